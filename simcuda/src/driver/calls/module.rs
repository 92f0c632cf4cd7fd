//! Modules: PTX text in, functions out. Binary images are refused.

use super::super::abi::{Code, HandleKind, Opaque, Outcome, handle};
use super::super::state::{Driver, KernelFunction, Module, place};
use super::{Out, Text, exports, not_simulated};
use crate::ptx::Program;
use std::sync::Arc;

/// `CU_JIT_INFO_LOG_BUFFER`, its size, `CU_JIT_ERROR_LOG_BUFFER`, its size.
const LOGS: [[u32; 2]; 2] = [[3, 4], [5, 6]];
/// The first bytes of a cubin and of a fat binary.
const BINARY: [[u8; 4]; 2] = [*b"\x7fELF", 0xba55_ed50_u32.to_le_bytes()];

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
        let (log, errors) = match load(driver, device, image) {
            Ok(module) => {
                out.put(handle(HandleKind::Module, module))?;
                let count = driver.modules[module].as_ref().map_or(0, entries);
                (format!("simcuda: {count} entries"), Ok(String::new()))
            }
            Err((code, text)) => (String::new(), Err((code, text))),
        };
        let error = errors.as_ref().map_or_else(|(_, text)| text.as_str(), String::as_str);
        for ([buffer, size], text) in LOGS.into_iter().zip([log.as_str(), error]) {
            write_log(count, options, values, buffer, size, text)?;
        }
        errors.map(|_| ()).map_err(|(code, _)| code)
    }

    fn cuModuleUnload(module: Opaque) Current, |driver, _device| {
        driver.refuse_unsafe_in_capture("cuModuleUnload")?;
        let module = driver.module(module)?;
        driver.modules[module] = None;
        Ok(())
    }

    fn cuModuleGetFunction(out: Out<Opaque>, module: Opaque, name: Text) Current, |driver, _device| {
        let module = driver.module(module)?;
        let entry = name.read()?;
        let program = driver.modules[module].as_ref().map(|module| &module.program);
        if program.and_then(|program| program.entry(&entry)).is_none() {
            return Err(Code::NOT_FOUND);
        }
        driver.functions.push(KernelFunction { module, entry });
        out.put(handle(HandleKind::Function, driver.functions.len() - 1))
    }

    fn cuModuleGetGlobal_v2(out: Out<u64>, bytes: Out<usize>, module: Opaque, name: Text) Current,
    |driver, _device| {
        let _ = (out, bytes);
        driver.module(module)?;
        let name = name.read()?;
        Err(not_simulated(driver, &format!("the global variable `{name}`")))
    }

    fn cuFuncGetAttribute(out: Out<i32>, attribute: u32, function: Opaque) Current, |driver, _device| {
        let (function, module) = driver.function(function)?;
        let entry = module.program.entry(&function.entry).ok_or(Code::NOT_FOUND)?;
        let sm = driver.config.sm as i32;
        match attribute {
            0 => out.put(super::launch::most_threads(entry) as i32),
            1 => out.put(entry.shared_bytes() as i32),
            2 | 3 | 7 | 10..=15 => out.put(0),
            4 => out.put(super::launch::registers(entry) as i32),
            5 | 6 => out.put(sm),
            8 => out.put((48 << 10) - entry.shared_bytes() as i32),
            9 => out.put(-1),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    fn cuFuncSetAttribute(function: Opaque, attribute: u32, value: i32) Current, |driver, _device| {
        driver.function(function)?;
        match attribute {
            // Dynamic shared memory, which no kernel of the subset uses, and the division of the cache.
            8 if (0..=227 << 10).contains(&value) => Ok(()),
            9 if (-1..=100).contains(&value) => Ok(()),
            8 | 9 => Err(Code::INVALID_VALUE),
            _ => Err(not_simulated(driver, &format!("setting function attribute {attribute}"))),
        }
    }

    fn cuFuncSetCacheConfig(function: Opaque, config: u32) Current, |driver, _device| {
        driver.function(function)?;
        if config < 4 { Ok(()) } else { Err(Code::INVALID_VALUE) }
    }
}

fn entries(module: &Module) -> usize {
    module.program.entries().count()
}

/// A new module, or the code and the explanation.
fn load(driver: &mut Driver, device: usize, image: Text) -> Result<usize, (Code, String)> {
    let first = image.bytes4().map_err(|code| (code, "a module without an image".to_owned()))?;
    if BINARY.contains(&first) {
        return Err((Code::NO_BINARY_FOR_GPU, "a binary image cannot run here, only PTX text".to_owned()));
    }
    let text = image.read().map_err(|_| (Code::INVALID_IMAGE, "the PTX is not UTF-8".to_owned()))?;
    if let Some(target) = target(&text)
        && target > driver.config.sm
    {
        let text = format!("the PTX wants sm_{target}, but device {device} is sm_{}", driver.config.sm);
        return Err((Code::NO_BINARY_FOR_GPU, text));
    }
    let program = Program::parse(&text).map_err(|error| (Code::INVALID_PTX, error.to_string()))?;
    Ok(place(&mut driver.modules, Module { device, program: Arc::new(program) }))
}

/// The `sm` of the `.target` directive.
fn target(text: &str) -> Option<u32> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(".target"))?;
    let digits: String = line.trim().strip_prefix("sm_")?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Writes a text into the log buffer that the options name, and how long it is.
fn write_log(
    count: u32,
    options: Out<u32>,
    values: Out<Out<u8>>,
    buffer: u32,
    size: u32,
    text: &str,
) -> Outcome {
    let mut found = [None, None];
    for at in 0..count as usize {
        for (place, wanted) in found.iter_mut().zip([buffer, size]) {
            if options.at(at)? == wanted {
                *place = Some(at);
            }
        }
    }
    let [Some(buffer), Some(size)] = found else { return Ok(()) };
    // The size travels in the place of a pointer.
    let room = values.at(size)?.address();
    if room == 0 {
        return Ok(());
    }
    values.at(buffer)?.put_text(text, i32::try_from(room).unwrap_or(i32::MAX))?;
    values.put_at(size, Out::at_address(text.len().min(room - 1)))
}
