//! Modules: PTX text or the linker's images in, functions out. Launches of functions, and of graphs.

use super::super::abi::{Code, HandleKind, Opaque, handle, index};
use super::super::state::{Driver, Exec, KernelFunction, Module, StreamOrder, place};
use super::image::{BINARY, INFO_LOG, LOG, check, write_log};
use super::{Out, Text, current, exports, not_simulated};
use crate::driver::order::Clock;
use crate::driver::work::{Launch, Node, Work};
use crate::ptx::{Entry, Threads};
use std::collections::HashMap;
use std::sync::Arc;

exports! {
    fn cuModuleLoadData(out: Out<Opaque>, image: Text) Current, |driver, device| {
        driver.refuse_unsafe_in_capture("cuModuleLoadData")?;
        match load(driver, device, image) {
            Ok(module) => out.put(handle(HandleKind::Module, module)),
            Err((code, text)) => {
                driver.report.line(&text);
                Err(code)
            }
        }
    }

    fn cuModuleLoadDataEx(
        out: Out<Opaque>, image: Text, count: u32, options: Out<u32>, values: Out<Out<u8>>,
    ) Current,
    |driver, device| {
        driver.refuse_unsafe_in_capture("cuModuleLoadDataEx")?;
        let (log, text, outcome) = match load(driver, device, image) {
            Ok(module) => {
                let program = driver.modules[module].as_ref().map(|module| module.program.clone());
                let said = format!("simulated, {:?}", program.ok_or(Code::NOT_FOUND)?);
                (INFO_LOG, said, out.put(handle(HandleKind::Module, module)))
            }
            Err((code, text)) => (LOG, text, Err(code)),
        };
        write_log(count, options, values, log, &text).and(outcome)
    }

    fn cuModuleUnload(module: Opaque) Current, |driver, _device| {
        driver.refuse_unsafe_in_capture("cuModuleUnload")?;
        let module = driver.module(module)?;
        // Only the module holds its program, unless launches that are queued, or graphs, do.
        let program = driver.modules[module].take().map(|module| module.program);
        if program.as_ref().is_some_and(|program| Arc::strong_count(program) > 1) {
            driver.report.line(&format!("unloaded while launches are queued or graphs have it: {program:?}"));
            return Err(Code::INVALID_HANDLE);
        }
        Ok(())
    }

    fn cuModuleGetFunction(out: Out<Opaque>, module: Opaque, name: Text) Current, |driver, _device| {
        let module = driver.module(module)?;
        let entry = name.read()?;
        let program = driver.modules[module].as_ref().map(|module| &module.program);
        if program.and_then(|program| program.entry(&entry)).is_none() {
            return Err(Code::NOT_FOUND);
        }
        driver.functions.push(KernelFunction { module, entry, most_shared: MOST_SHARED });
        out.put(handle(HandleKind::Function, driver.functions.len() - 1))
    }

    fn cuFuncSetAttribute(function: Opaque, attribute: i32, value: i32) Init, |driver, _device| {
        let (KernelFunction { entry, .. }, module) = driver.function(function)?;
        let declared = module.program.entry(entry).ok_or(Code::NOT_FOUND)?.shared_bytes();
        let most = most_at_launch(driver.config.sm).saturating_sub(declared);
        match (attribute, u32::try_from(value)) {
            (MAX_DYNAMIC_SHARED_SIZE_BYTES, Ok(bytes)) if bytes <= most => {
                let function = index(HandleKind::Function, function).ok_or(Code::INVALID_HANDLE)?;
                driver.functions[function].most_shared = bytes;
                Ok(())
            }
            (MAX_DYNAMIC_SHARED_SIZE_BYTES, _) => Err(Code::INVALID_VALUE),
            _ => Err(not_simulated(driver, "this attribute of a function")),
        }
    }

    fn cuLaunchKernel(
        function: Opaque, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: Opaque, params: Out<Out<u8>>, extra: Out<usize>,
    ) Init, |driver, _device| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        if extra.asked() {
            return Err(not_simulated(driver, "a launch with a buffer of parameters"));
        }
        let stream = driver.stream(stream, current())?;
        let (function, module) = driver.function(function)?;
        let (program, device, name) = (module.program.clone(), module.device, function.entry.clone());
        let most_shared = function.most_shared;
        let entry = program.entry(&name).ok_or(Code::NOT_FOUND)?;
        if device != driver.streams[stream].device {
            let text = format!("`{name}` was loaded on device {device}, but launched in a stream of another");
            driver.report.line(&text);
            return Err(Code::INVALID_HANDLE);
        }
        if let Err(why) = fits(entry, grid, block, shared, most_shared) {
            driver.report.line(&format!("launch of `{name}` with grid {grid:?} and block {block:?}: {why}"));
            return Err(Code::INVALID_VALUE);
        }
        let params = match entry.param_bytes() as usize {
            0 => Vec::new(),
            bytes => params.at(0)?.bytes(bytes)?,
        };
        let label = format!("kernel `{name}` {grid:?}x{block:?}");
        let launch = Launch { program, entry: name, grid, block, shared, params };
        driver.submit(stream, label, Work::Kernel(launch))
    }

    fn cuGraphInstantiateWithFlags(out: Out<Opaque>, graph: Opaque, flags: u64) Init, |driver, _device| {
        let graph = driver.graph(graph)?;
        match flags {
            // Freeing on launch matters to allocations, which a graph has none of; priorities do not matter.
            0 | 1 | 8 | 9 => {}
            2 | 4 | 6 => return Err(not_simulated(driver, "upload or launch from the device of a graph")),
            _ => return Err(Code::INVALID_VALUE),
        }
        let graph = driver.graphs[graph].clone().unwrap_or_default();
        let mut branches = HashMap::new();
        for Node { stream, .. } in &graph.nodes {
            let device = driver.streams[*stream].device;
            branches.entry(*stream).or_insert_with(|| driver.add_stream(device, StreamOrder::Branch));
        }
        let exec = Exec { graph, branches, last: Clock::default() };
        out.put(handle(HandleKind::Exec, place(&mut driver.execs, exec)))
    }

    fn cuGraphLaunch(exec: Opaque, stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        let exec = driver.exec(exec)?;
        if driver.streams[stream].capture.is_some() {
            return Err(not_simulated(driver, "a graph within a graph"));
        }
        driver.launch_graph(exec, stream)
    }

    fn cuGraphExecDestroy(exec: Opaque) Init, |driver, _device| {
        let exec = driver.exec(exec)?;
        // Queued launches of it still run.
        driver.execs[exec] = None;
        Ok(())
    }

    fn cuGraphDestroy(graph: Opaque) Init, |driver, _device| {
        let graph = driver.graph(graph)?;
        driver.graphs[graph] = None;
        Ok(())
    }
}

/// A new module, or the code and the explanation.
fn load(driver: &mut Driver, device: usize, image: Text) -> Result<usize, (Code, String)> {
    let first = image.bytes4().map_err(|code| (code, "a module without an image".to_owned()))?;
    if BINARY.contains(&first) {
        return Err((Code::NO_BINARY_FOR_GPU, "a binary image cannot run here".to_owned()));
    }
    let text = image.read().map_err(|_| (Code::INVALID_IMAGE, "the PTX is not UTF-8".to_owned()))?;
    let program = check(&driver.config, device, &text)?;
    Ok(place(&mut driver.modules, Module { device, program: Arc::new(program) }))
}

/// Declared shared memory and what a launch adds, unless an attribute allows more.
const MOST_SHARED: u32 = 48 << 10;

/// That attribute, `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const MAX_DYNAMIC_SHARED_SIZE_BYTES: i32 = 8;

/// Shared memory that a block may have if it is allowed to.
fn most_at_launch(sm: u32) -> u32 {
    match sm {
        ..80 => 64 << 10,
        80 | 87 => 163 << 10,
        81..90 | 120.. => 99 << 10,
        90..120 => 227 << 10,
    }
}

fn fits(entry: &Entry, grid: [u32; 3], block: [u32; 3], shared: u32, most_shared: u32) -> Result<(), String> {
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
    let all = shared.saturating_add(entry.shared_bytes());
    if shared > most_shared || all > MOST_SHARED.max(most_shared.saturating_add(entry.shared_bytes())) {
        return Err(format!("{all} bytes of shared memory; {most_shared} are allowed to a launch"));
    }
    match entry.threads() {
        Threads::Any => Ok(()),
        Threads::AtMost(most) if threads <= u64::from(most) => Ok(()),
        Threads::AtMost(most) => Err(format!("the entry allows {most} threads")),
        Threads::Exactly(wanted) if wanted == block => Ok(()),
        Threads::Exactly(wanted) => Err(format!("the entry wants the block {wanted:?}")),
    }
}
