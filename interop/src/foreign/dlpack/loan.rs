//! [`Loan`]: memory that is lent, and the owner that lives as long.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use dlpark::ffi::{DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion};
use dlpark::metadata::Dynamic;
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};

use partita::array::{Cells, Part};
use partita::device::Foreign;
use partita::index::Index;
use partita::{Array, Distribution, Result, Team};

use super::borrowed::{Borrowed, ForeignMemory};
use super::types::dtype_of;
use crate::element::{Element, TypedPart};

static LIVE: AtomicI64 = AtomicI64::new(0);

/// Loans that no consumer has ended yet.
pub fn live_loans() -> i64 {
    LIVE.load(Ordering::Acquire)
}

/// Cells that are ready to be lent.
pub struct Loan {
    memory: LoanedMemory,
    location: DLDevice,
    /// The address of the first cell; 0 if there is none.
    address: u64,
    flags: DlpackFlags,
    element: Element,
    shape: Index,
    strides: Index,
}

/// The objects that a loan keeps alive.
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
    pub fn of(typed: &TypedPart, cells: Cells, location: DLDevice) -> Result<Option<Loan>> {
        let (part, element, region) = (&typed.part, typed.element, typed.region(cells));
        let address = match location.device_type {
            DLDeviceType::CPU => {
                part.address(cells)?.map(|address| address.as_ptr().expose_provenance() as u64)
            }
            DLDeviceType::CUDA => part.cuda_address(cells)?,
            _ => return Ok(None),
        };
        let memory = LoanedMemory::Lent { _part: Lent(Arc::clone(part)) };
        let (shape, flags) = (region.extents(), DlpackFlags::READ_ONLY);
        let address = if region.is_empty() { Some(0) } else { address };
        let loan = address.zip(typed.strides());
        Ok(loan.map(|(address, strides)| Loan { memory, location, address, flags, element, shape, strides }))
    }

    /// A copy of the cells on their device, which is `location`. `None` as for [`Loan::of`].
    ///
    /// # Errors
    /// The device's.
    pub fn copied(typed: &TypedPart, cells: Cells, location: DLDevice) -> Result<Option<Loan>> {
        let part = Arc::new(typed.part.copied(cells)?);
        let copy = TypedPart { part, element: typed.element };
        Ok(Loan::of(&copy, Cells::Owned, location)?
            .map(|loan| Loan { flags: DlpackFlags::IS_COPIED, ..loan }))
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
        let (memory, location) = (LoanedMemory::Copied { _lines: lines }, DLDevice::CPU);
        Ok(Loan { memory, location, address, flags: DlpackFlags::IS_COPIED, element, shape, strides })
    }

    /// The same cells, to be written by the consumer.
    pub fn writable(self) -> Loan {
        Loan { flags: self.flags - DlpackFlags::READ_ONLY, ..self }
    }

    /// Takes the loan over, as a consumer in this process.
    pub fn borrow(self) -> Borrowed {
        Borrowed::from(self.versioned())
    }

    /// The struct as it was before version 1, which has no room for flags.
    pub fn legacy(self) -> Managed<DLManagedTensor> {
        self.managed()
    }

    /// The struct of version 1.0, which all consumers know.
    pub fn versioned(self) -> Managed<DLManagedTensorVersioned> {
        let managed = self.managed::<DLManagedTensorVersioned>();
        // SAFETY: the struct is new, and nobody else has it.
        unsafe { (*managed.as_ptr()).version = DLPackVersion { major: 1, minor: 0 } };
        managed
    }

    fn managed<M: ManagedTensorBase>(self) -> Managed<M> {
        let metadata = Dynamic::new(&self.shape[..], &self.strides[..]);
        let Ok(mut made) = metadata.initialize_as::<M>(Box::new(Live::new(self.memory))) else {
            unreachable!("as many extents as strides, and few")
        };
        made.set_data(std::ptr::with_exposed_provenance_mut(self.address as usize));
        made.set_device(self.location).set_dtype(dtype_of(self.element));
        // SAFETY: a loan is marked as copied where its memory was copied for it; the memory is readable for
        // as long as the struct owns it, or there are no cells.
        unsafe {
            made.set_flags_unchecked(self.flags);
            made.finish()
        }
    }
}

/// The memory that a struct that was handed out owns; counted.
struct Live {
    _memory: LoanedMemory,
}

impl Live {
    fn new(memory: LoanedMemory) -> Live {
        LIVE.fetch_add(1, Ordering::AcqRel);
        Live { _memory: memory }
    }
}

/// In the struct's deleter, on any thread. Drops Rust values only; should one of them panic, `extern "C"`
/// ends the process.
impl Drop for Live {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An array over the cells of a part, lent and taken over as any consumer in this process does, nothing
/// copied. `None` as for [`Loan::of`], and for a part without cells.
///
/// # Errors
/// The device's; a team of other than one part on the part's device.
pub fn passed_on(part: &Arc<Part>, location: DLDevice, team: &Team) -> Result<Option<Array>> {
    let Some(loan) = Loan::of(&TypedPart::from(part.clone()), Cells::Owned, location)? else {
        return Ok(None);
    };
    let borrowed = loan.borrow();
    // Cells of a part that has a halo are not in C order, which is refused.
    let Ok(ForeignMemory { shape, address, bytes: bytes @ 1.., .. }) = borrowed.memory() else {
        return Ok(None);
    };
    let foreign = Foreign { address, bytes, owner: Box::new(borrowed) };
    // SAFETY: the loan keeps the memory alive until the owner is dropped, and a value of ours never changes.
    let buffer = unsafe { part.device().borrow(foreign) }?;
    let dist = Distribution::default_partition(1, &shape)?;
    Ok(Some(Array::from_buffers(team, &dist, part.dtype(), vec![Some(buffer)])?))
}
