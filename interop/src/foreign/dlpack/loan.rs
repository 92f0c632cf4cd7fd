//! [`Loan`]: one heap block that holds the DLPack struct, shape and strides, and the owner of the memory.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use partita::array::{Cells, Part};
use partita::device::Foreign;
use partita::index::{Index, MAX_RANK};
use partita::{Array, Distribution, Result, Team};

use super::abi::{ElementType, Head, IS_COPIED, Location, READ_ONLY, Strided, Versioned};
use super::borrowed::{Borrowed, ForeignMemory};
use crate::element::{Element, TypedPart};

static LIVE: AtomicI64 = AtomicI64::new(0);

/// Loans that no consumer has ended yet.
pub fn live_loans() -> i64 {
    LIVE.load(Ordering::Acquire)
}

/// Cells that are ready to be lent.
pub struct Loan {
    memory: LoanedMemory,
    location: Location,
    /// Where the first cell is; 0 if there is none.
    address: u64,
    flags: u64,
    element: Element,
    shape: Index,
    strides: Index,
}

/// What a loan keeps alive.
enum LoanedMemory {
    /// The engine's own.
    Lent { _part: Lent },
    /// A copy on the host, which is the consumer's.
    Copied { _lines: Vec<Line> },
}

/// Memory of a part. Before it is used again, the work that consumers have queued on it must be done, on
/// whatever streams.
struct Lent(Arc<Part>);

impl Drop for Lent {
    fn drop(&mut self) {
        // A device that fails here is lost, and its memory with it.
        let _ = self.0.device().wait_for_all();
    }
}

/// Memory as consumers like it aligned.
#[repr(C, align(64))]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Line([u8; 64]);

impl Loan {
    /// The cells where they are, which is `location`. `None` if that is neither this process's memory nor a
    /// CUDA device, or if what lies there is in no strides of such elements. Waits where the device and this
    /// process share memory.
    ///
    /// # Errors
    /// The device's.
    pub fn of(typed: &TypedPart, cells: Cells, location: Location) -> Result<Option<Loan>> {
        let (part, element, region) = (&typed.part, typed.element, typed.region(cells));
        let address = match location.kind {
            kind if kind == Location::HOST.kind => {
                part.address(cells)?.map(|address| address.as_ptr().expose_provenance() as u64)
            }
            Location::CUDA => part.cuda_address(cells),
            _ => return Ok(None),
        };
        let memory = LoanedMemory::Lent { _part: Lent(Arc::clone(part)) };
        let (shape, flags) = (region.extents(), READ_ONLY);
        let address = if region.is_empty() { Some(0) } else { address };
        let loan = address.zip(typed.strides());
        Ok(loan.map(|(address, strides)| Loan { memory, location, address, flags, element, shape, strides }))
    }

    /// A copy of the cells on their device, which is `location`. `None` as for [`Loan::of`].
    ///
    /// # Errors
    /// The device's.
    pub fn copied(typed: &TypedPart, cells: Cells, location: Location) -> Result<Option<Loan>> {
        let part = Arc::new(typed.part.copied(cells)?);
        let copy = TypedPart { part, element: typed.element };
        Ok(Loan::of(&copy, Cells::Owned, location)?.map(|loan| Loan { flags: IS_COPIED, ..loan }))
    }

    /// A copy of the cells in host memory.
    ///
    /// # Errors
    /// The device's.
    pub fn copy_of(typed: &TypedPart, cells: Cells) -> Result<Loan> {
        let (element, region) = (typed.element, typed.region(cells));
        let bytes = region.volume()? as usize * element.size_bytes();
        let mut lines = vec![Line([0; 64]); bytes.div_ceil(64)];
        typed.part.read_into(cells, &mut bytemuck::cast_slice_mut(&mut lines)[..bytes])?;
        let (shape, strides) = (region.extents(), partita::program::c_strides(&region));
        let address = lines.first_mut().map_or(0, |line| std::ptr::from_mut(line).expose_provenance() as u64);
        let (memory, location) = (LoanedMemory::Copied { _lines: lines }, Location::HOST);
        Ok(Loan { memory, location, address, flags: IS_COPIED, element, shape, strides })
    }

    /// Takes the loan over, as a consumer in this process.
    pub fn borrow(self) -> Borrowed<Versioned> {
        // SAFETY: handed out to nobody else.
        unsafe { Borrowed::new(self.hand_out()) }
    }

    /// Hands the loan out: whoever gets the pointer calls the struct's deleter once.
    pub fn hand_out<H: Head>(self) -> NonNull<H> {
        let array = Strided {
            data: std::ptr::with_exposed_provenance_mut::<c_void>(self.address as usize),
            location: self.location,
            rank: self.shape.rank() as i32,
            element: ElementType::of(self.element),
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        let values = |index: &Index| std::array::from_fn(|d| index.get(d).copied().unwrap_or(0));
        let (shape, strides) = (values(&self.shape), values(&self.strides));
        let head = H::new(array, self.flags, end::<H>);
        let block = Box::leak(Box::new(LoanBlock { head, shape, strides, _memory: self.memory }));
        block.head.array().shape = block.shape.as_mut_ptr();
        block.head.array().strides = block.strides.as_mut_ptr();
        LIVE.fetch_add(1, Ordering::AcqRel);
        NonNull::from(block).cast()
    }
}

/// The struct comes first, so that its address is the block's.
#[repr(C)]
struct LoanBlock<H> {
    head: H,
    shape: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
    _memory: LoanedMemory,
}

/// The deleter. Drops Rust values only; should one of them panic, `extern "C"` ends the process.
unsafe extern "C" fn end<H>(head: *mut H) {
    // SAFETY: this function is in no struct but those that `hand_out` leaked, at the start of their block,
    // and the protocol says that it is called once.
    drop(unsafe { Box::from_raw(head.cast::<LoanBlock<H>>()) });
    LIVE.fetch_sub(1, Ordering::AcqRel);
}

/// An array over the cells of a part, lent and taken over as any consumer in this process does, nothing
/// copied. `None` as for [`Loan::of`], and for a part without cells.
///
/// # Errors
/// The device's; a team of other than one part on the part's device.
pub fn passed_on(part: &Arc<Part>, location: Location, team: &Team) -> Result<Option<Array>> {
    let Some(loan) = Loan::of(&TypedPart::from(part.clone()), Cells::Owned, location)? else {
        return Ok(None);
    };
    let mut borrowed = loan.borrow();
    // Cells of a part that has a halo are not in C order, which is refused.
    let Ok(ForeignMemory { shape, address, bytes: bytes @ 1.., .. }) = borrowed.memory() else {
        return Ok(None);
    };
    let foreign = Foreign { address, bytes, owner: Box::new(Mutex::new(borrowed)) };
    // SAFETY: the loan keeps the memory alive until the owner is dropped, and a value of ours never changes.
    let buffer = unsafe { part.device().borrow(foreign) }?;
    let dist = Distribution::default_partition(1, &shape)?;
    Ok(Some(Array::over(team, &dist, part.dtype(), vec![Some(buffer)])?))
}
