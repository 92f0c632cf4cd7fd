//! The host as a device: its memory and its launches. Memory is aligned, zeroed when new, in large pages
//! where that pays; or another owner's.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use partita_kernels::{Launch, LaunchError, Verified, cpu};

use super::driver::{DeviceKind, Driver, DriverError, DriverResult, Opaque, Stream, own};
use super::memory::{ALIGN_BYTES, Allocation, DeviceMemory};
use crate::config::config;
use crate::device::driver::Job;
use crate::device::process_id;
use crate::interrupt;

/// The host's side of the interface.
pub(super) struct Host {
    name: String,
}

impl Host {
    pub(super) fn new() -> Host {
        Host { name: format!("host ({} threads)", config().threads) }
    }
}

impl Driver for Host {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Host
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn max_params(&self) -> usize {
        64
    }

    fn is_addressable(&self) -> bool {
        true
    }

    fn alloc(&self, bytes: u64) -> DriverResult<Box<dyn DeviceMemory>> {
        let refused =
            || DriverError::OutOfMemory { bytes, limit: "the system's allocator refused".to_owned() };
        HostMemory::new(bytes).map(|block| Box::new(block) as _).ok_or_else(refused)
    }

    unsafe fn borrow(
        &self,
        address: u64,
        bytes: u64,
        owner: Opaque,
    ) -> DriverResult<Option<Box<dyn DeviceMemory>>> {
        // SAFETY: as the caller says.
        Ok(unsafe { HostMemory::borrowed(address, bytes, owner) }.map(|block| Box::new(block) as _))
    }

    fn upload(&self, _: Stream, to: &Allocation, offset: u64, data: &[u8]) -> DriverResult<()> {
        to.own::<HostMemory>().write(offset as usize, data);
        Ok(())
    }

    fn download(&self, _: Stream, from: &Allocation, offset: u64, out: &mut [u8]) -> DriverResult<()> {
        from.own::<HostMemory>().read(offset as usize, out);
        Ok(())
    }

    fn compile(&self, kernel: &Verified) -> DriverResult<Opaque> {
        Ok(Box::new(cpu::Program::compile_at(kernel, config().host_code)))
    }

    fn code_bytes(&self, code: &Opaque) -> usize {
        own::<cpu::Program>(&**code).code_bytes()
    }

    fn launch(&self, _: Stream, jobs: &[Job]) -> DriverResult<()> {
        jobs.iter().try_for_each(|job| {
            run(job, threads()).map_err(DriverError::Launch)?;
            if interrupt::gave_up() { Err(DriverError::Interrupted) } else { Ok(()) }
        })
    }
}

/// Runs a job of the host on so many threads; it is done when this returns.
pub(super) fn run(job: &Job, threads: usize) -> Result<(), LaunchError> {
    let params = &job.program.kernel().kernel().params;
    let memory = job.memory.iter().zip(params);
    let memory = memory.map(|(block, param)| (block.own::<HostMemory>(), param.dtype.size_bytes()));
    launch(own(&*job.program.code), &job.launch, memory, threads)
}

/// Threads of a launch. A fork takes only the thread that calls it along, so a forked process, in which
/// waiting for the others would never end, computes on one.
pub(super) fn threads() -> usize {
    static STARTED_IN: OnceLock<u32> = OnceLock::new();
    match config().threads {
        1 => 1,
        _ if *STARTED_IN.get_or_init(process_id) != process_id() => 1,
        threads => threads,
    }
}

/// Runs a kernel on host memory: one block per parameter with its element size.
pub(super) fn launch<'a>(
    program: &cpu::Program,
    launch: &Launch,
    memory: impl Iterator<Item = (&'a HostMemory, usize)>,
    threads: usize,
) -> Result<(), LaunchError> {
    let views: Vec<cpu::Memory> =
        memory.map(|(block, size)| cpu::Memory { ptr: block.pointer(), len: block.bytes() / size }).collect();
    // SAFETY: each block is alive and `len` elements long; the engine never passes one block twice
    // unless both parameters are In. Who launches holds the device's lock, see `lock`, or has promised as
    // much (`raw`).
    unsafe { program.run(launch, &views, threads) }
}

/// Bytes of a large page, where there are any.
const LARGE_PAGE_BYTES: usize = 2 << 20;
/// Blocks of so many large pages ask for them.
const LARGE_PAGES: usize = 2;
/// Large blocks begin at so many different places of a page, one after the other: a page and some lines
/// apart.
const PLACES: usize = 16;
const APART_BYTES: usize = 4096 + 1280;

/// A block of host memory: ours, aligned and zeroed when new, or another owner's.
pub(in crate::device) struct HostMemory {
    start: NonNull<u8>,
    bytes: usize,
    origin: Origin,
}

/// The origin of memory, which decides how it is given back.
enum Origin {
    /// The allocation, and how far into it the block begins.
    Allocated(Layout, usize),
    Borrowed {
        _owner: Box<dyn Any + Send + Sync>,
    },
}

// SAFETY: the block is plain memory owned by this value. Who may read and write it when is decided by the
// device's lock, see `lock`: outside this crate only unsafe functions get at it.
unsafe impl Send for HostMemory {}
// SAFETY: as for Send; this type itself only hands out the pointer.
unsafe impl Sync for HostMemory {}

impl DeviceMemory for HostMemory {
    fn host_address(&self) -> Option<*mut u8> {
        Some(self.pointer())
    }

    fn wire_address(&self) -> Option<usize> {
        Some(self.pointer().expose_provenance())
    }
}

impl HostMemory {
    /// `None` if the system has no such memory.
    pub(in crate::device) fn new(bytes: u64) -> Option<HostMemory> {
        let bytes = usize::try_from(bytes).ok()?;
        let is_large = bytes >= LARGE_PAGES * LARGE_PAGE_BYTES;
        let (align, before) = if is_large { (LARGE_PAGE_BYTES, apart()) } else { (ALIGN_BYTES as usize, 0) };
        let layout = Layout::from_size_align(bytes.checked_add(before)?, align).ok()?;
        // SAFETY: callers round sizes up to a multiple of ALIGN_BYTES, so the size is not zero.
        let first = NonNull::new(unsafe { if is_large { alloc(layout) } else { alloc_zeroed(layout) } })?;
        if is_large {
            ask_for_large_pages(first, layout.size());
            // SAFETY: the allocation is ours and so long. The pages appear here, large if the system can.
            unsafe { first.as_ptr().write_bytes(0, layout.size()) };
        }
        // SAFETY: `before` lies within the allocation.
        let start = unsafe { first.add(before) };
        Some(HostMemory { start, bytes, origin: Origin::Allocated(layout, before) })
    }

    /// Another owner's memory; `None` for the null pointer.
    ///
    /// # Safety
    /// The bytes are readable for as long as `owner` lives, and nobody writes to them while anything here
    /// reads them. They must not be written through this value.
    unsafe fn borrowed(address: u64, bytes: u64, owner: Box<dyn Any + Send + Sync>) -> Option<HostMemory> {
        let start = NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize))?;
        Some(HostMemory { start, bytes: bytes as usize, origin: Origin::Borrowed { _owner: owner } })
    }

    pub(in crate::device) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(in crate::device) fn pointer(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Copies `data` to byte `offset`; the device has checked the range.
    pub(in crate::device) fn write(&self, offset: usize, data: &[u8]) {
        assert!(offset.checked_add(data.len()).is_some_and(|end| end <= self.bytes()));
        // SAFETY: the assertion keeps the range inside the block; `data` is a borrowed slice that
        // cannot alias memory which is only reachable through raw pointers.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.pointer().add(offset), data.len()) }
    }

    /// Copies from byte `offset` into `out`; the device has checked the range.
    pub(in crate::device) fn read(&self, offset: usize, out: &mut [u8]) {
        assert!(offset.checked_add(out.len()).is_some_and(|end| end <= self.bytes()));
        // SAFETY: as in `write`, the other way round.
        unsafe { std::ptr::copy_nonoverlapping(self.pointer().add(offset), out.as_mut_ptr(), out.len()) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let Origin::Allocated(layout, before) = self.origin {
            // SAFETY: allocated in `new` with this layout, so far before the block.
            unsafe { dealloc(self.pointer().sub(before), layout) }
        }
    }
}

/// The offset of the next large block in its pages. Blocks that all began with a page would have the same
/// lower address bits at the same index, by which processors find lines and tell a read from the writes
/// before it: then the arrays of a loop drive each other out of the first cache, and reads wait for writes.
fn apart() -> usize {
    static BLOCKS: AtomicUsize = AtomicUsize::new(0);
    place(BLOCKS.fetch_add(1, Ordering::Relaxed))
}

/// The offset in its pages of large block number `block`.
fn place(block: usize) -> usize {
    block % PLACES * APART_BYTES
}

/// Asks the system to back a block by large pages: prefetching ends at the end of a page, and a virtual
/// machine looks pages up twice. What the system says does not matter.
fn ask_for_large_pages(start: NonNull<u8>, bytes: usize) {
    let whole = bytes / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
    #[cfg(target_os = "linux")]
    // SAFETY: the pages lie within a block of ours; the advice changes no byte of it.
    unsafe {
        libc::madvise(start.as_ptr().cast(), whole, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, whole);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn large_blocks_lie_in_large_pages_and_are_zero() {
        let bytes = LARGE_PAGES * LARGE_PAGE_BYTES;
        for bytes in [bytes - ALIGN_BYTES as usize, bytes, bytes + ALIGN_BYTES as usize] {
            for _ in 0..3 {
                let block = HostMemory::new(bytes as u64).expect("some MiB");
                let is_large = bytes >= LARGE_PAGES * LARGE_PAGE_BYTES;
                let align = ALIGN_BYTES as usize;
                assert_eq!(block.pointer() as usize % align, 0, "{bytes}");
                let place = block.pointer() as usize % LARGE_PAGE_BYTES;
                assert!(!is_large || place.is_multiple_of(APART_BYTES) && place / APART_BYTES < PLACES);
                let mut content = vec![1; bytes];
                block.read(0, &mut content);
                assert!(content.iter().all(|&byte| byte == 0), "{bytes}");
                // Whoever comes next must not find this.
                block.write(0, &vec![7; bytes]);
            }
        }
    }

    #[test]
    fn large_blocks_begin_at_different_places_of_a_page() {
        for block in 0..PLACES {
            // A line of the first cache apart at least, in the bits by which it finds lines.
            let apart = |other: usize| (place(block) % 4096).abs_diff(place(other) % 4096) >= 64;
            assert!((0..PLACES).filter(|&other| other != block).all(apart), "{block}");
        }
        // Other tests may take blocks in between, but not so many that all of these are alike.
        let bytes = (LARGE_PAGES * LARGE_PAGE_BYTES) as u64;
        let blocks: Vec<_> = (0..4).map(|_| HostMemory::new(bytes).expect("some MiB")).collect();
        let places: BTreeSet<usize> = blocks.iter().map(|block| block.pointer() as usize % 4096).collect();
        assert!(places.len() > 1, "{places:?}");
    }
}
