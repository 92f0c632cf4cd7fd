//! Launches of kernels, and what fits on a multiprocessor.

use super::super::abi::{Code, Opaque, Outcome};
use super::super::state::Driver;
use super::{Out, current, exports, not_simulated};
use crate::driver::work::{Launch, Work};
use crate::ptx::{Entry, Threads};

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: Opaque,
    attributes: Out<Attribute>,
    attribute_count: u32,
}

/// `CUlaunchAttribute`: a number, padding, and 64 bytes of value.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    id: u32,
    padding: [u8; 4],
    value: [u64; 8],
}

/// Attributes that change nothing here: ignored ones, cache windows, waiting, priority, memory domains, the
/// carveout.
const HARMLESS: [u32; 7] = [0, 1, 3, 8, 9, 10, 14];
/// Static shared memory and what a launch adds.
const MOST_SHARED: u32 = 48 << 10;
/// The threads of a multiprocessor.
const MULTIPROCESSOR_THREADS: u32 = 1024;

exports! {
    fn cuLaunchKernel(
        function: Opaque, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: Opaque, params: Params, extra: Extra,
    ) Init, |driver, _device| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        launch(driver, function, grid, block, shared, stream, params, extra)
    }

    fn cuLaunchKernelEx(config: Out<LaunchConfig>, function: Opaque, params: Params, extra: Extra) Init,
    |driver, _device| {
        let config = config.get()?;
        for at in 0..config.attribute_count as usize {
            let id = config.attributes.at(at)?.id;
            if !HARMLESS.contains(&id) {
                return Err(not_simulated(driver, &format!("launch attribute {id}")));
            }
        }
        let LaunchConfig { grid, block, shared_bytes, stream, .. } = config;
        launch(driver, function, grid, block, shared_bytes, stream, params, extra)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        out: Out<i32>, function: Opaque, block: i32, shared: usize,
    ) Current,
    |driver, _device| {
        out.put(occupancy(driver, function, block, shared)?)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        out: Out<i32>, function: Opaque, block: i32, shared: usize, flags: u32,
    ) Current, |driver, _device| {
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        out.put(occupancy(driver, function, block, shared)?)
    }
}

/// `kernelParams`: a pointer to each parameter; entries of the subset have one.
type Params = Out<Out<u8>>;
/// `extra`: pairs of a key and a value, ended by zero.
type Extra = Out<usize>;

#[expect(clippy::too_many_arguments, reason = "the driver's call has as many")]
fn launch(
    driver: &mut Driver,
    function: Opaque,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Opaque,
    params: Params,
    extra: Extra,
) -> Outcome {
    let stream = driver.stream(stream, current())?;
    let (function, module) = driver.function(function)?;
    let (program, device, name) = (module.program.clone(), module.device, function.entry.clone());
    let entry = program.entry(&name).ok_or(Code::NOT_FOUND)?;
    if device != driver.streams[stream].device {
        driver
            .report
            .line(&format!("`{name}` was loaded on device {device}, but launched in a stream of another"));
        return Err(Code::INVALID_HANDLE);
    }
    if let Err(why) = fits(entry, grid, block, shared) {
        driver.report.line(&format!("launch of `{name}` with grid {grid:?} and block {block:?}: {why}"));
        return Err(Code::INVALID_VALUE);
    }
    let params = block_of_params(entry.param_bytes() as usize, params, extra)?;
    let label = format!("kernel `{name}` {grid:?}x{block:?}");
    driver.submit(stream, label, Work::Kernel(Launch { program, entry: name, grid, block, params }))
}

fn fits(entry: &Entry, grid: [u32; 3], block: [u32; 3], shared: u32) -> Result<(), String> {
    if grid.iter().chain(&block).any(|extent| *extent == 0) {
        return Err("an extent is zero".to_owned());
    }
    if grid[0] > i32::MAX as u32 || grid[1] > 65_535 || grid[2] > 65_535 {
        return Err("a grid has at most 2147483647, 65535 and 65535 blocks".to_owned());
    }
    let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
    if threads > 1024 || block[2] > 64 {
        return Err("a block has at most 1024 threads, and 64 in z".to_owned());
    }
    if shared.saturating_add(entry.shared_bytes()) > MOST_SHARED {
        return Err(format!("more than {MOST_SHARED} bytes of shared memory"));
    }
    match entry.threads() {
        Threads::Any => Ok(()),
        Threads::AtMost(most) if threads <= u64::from(most) => Ok(()),
        Threads::AtMost(most) => Err(format!("the entry allows {most} threads")),
        Threads::Exactly(wanted) if wanted == block => Ok(()),
        Threads::Exactly(wanted) => Err(format!("the entry wants the block {wanted:?}")),
    }
}

/// The parameter block, given either way.
fn block_of_params(bytes: usize, params: Params, extra: Extra) -> Result<Vec<u8>, Code> {
    match (params.asked(), extra.asked()) {
        (true, true) => Err(Code::INVALID_VALUE),
        (true, false) if bytes > 0 => params.at(0)?.bytes(bytes),
        (_, false) if bytes > 0 => Err(Code::INVALID_VALUE),
        (_, false) => Ok(Vec::new()),
        (false, true) => {
            // `CU_LAUNCH_PARAM_BUFFER_POINTER` is 1, `CU_LAUNCH_PARAM_BUFFER_SIZE` is 2 and points to the
            // size.
            let (mut buffer, mut given) = (None, None);
            let mut at = 0;
            loop {
                match extra.at(at)? {
                    0 => break,
                    1 => buffer = Some(Out::<u8>::at_address(extra.at(at + 1)?)),
                    2 => given = Some(Out::<usize>::at_address(extra.at(at + 1)?).get()?),
                    _ => return Err(Code::INVALID_VALUE),
                }
                at += 2;
            }
            match (buffer, given) {
                (Some(buffer), Some(given)) if given == bytes => buffer.bytes(bytes),
                _ => Err(Code::INVALID_VALUE),
            }
        }
    }
}

/// The most threads that a block of an entry has.
pub fn most_threads(entry: &Entry) -> u32 {
    match entry.threads() {
        Threads::Any => 1024,
        Threads::AtMost(most) => most.min(1024),
        Threads::Exactly(block) => block.iter().product(),
    }
}

/// Registers of a thread: a guess, since nothing was compiled.
pub fn registers(entry: &Entry) -> u32 {
    (entry.registers() as u32).clamp(16, 64)
}

fn occupancy(driver: &Driver, function: Opaque, block: i32, shared: usize) -> Result<i32, Code> {
    let (function, module) = driver.function(function)?;
    let entry = module.program.entry(&function.entry).ok_or(Code::NOT_FOUND)?;
    let block = u32::try_from(block).ok().filter(|block| *block > 0).ok_or(Code::INVALID_VALUE)?;
    if block > most_threads(entry) {
        return Ok(0);
    }
    let by_threads = MULTIPROCESSOR_THREADS / block.next_multiple_of(32);
    let bytes = entry.shared_bytes() + u32::try_from(shared).map_err(|_| Code::INVALID_VALUE)?;
    let by_shared = u32::checked_div(64 << 10, bytes).unwrap_or(32);
    let by_registers = 65_536 / (registers(entry) * block.next_multiple_of(32));
    Ok(by_threads.min(by_shared).min(by_registers).min(32) as i32)
}
