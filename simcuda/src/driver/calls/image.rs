//! Texts that modules are loaded from, and the compiler's logs.

use super::super::abi::{Code, Outcome};
use super::super::config::Config;
use super::Out;
use crate::ptx::Program;

/// `CU_JIT_ERROR_LOG_BUFFER`, and its size.
pub const LOG: [u32; 2] = [5, 6];
/// `CU_JIT_INFO_LOG_BUFFER`, and its size.
pub const INFO_LOG: [u32; 2] = [3, 4];
/// The first bytes of a cubin and of a fat binary.
pub const BINARY: [[u8; 4]; 2] = [*b"\x7fELF", 0xba55_ed50_u32.to_le_bytes()];

/// A text that a device runs, or the code and the explanation.
pub fn check(config: &Config, device: usize, text: &str) -> Result<Program, (Code, String)> {
    if let Some(target) = target(text)
        && target > config.sm
    {
        let text = format!("the PTX wants sm_{target}, but device {device} is sm_{}", config.sm);
        return Err((Code::NO_BINARY_FOR_GPU, text));
    }
    Program::parse(text).map_err(|error| (Code::INVALID_PTX, error.to_string()))
}

/// The `sm` of the `.target` directive.
fn target(text: &str) -> Option<u32> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(".target"))?;
    let digits: String = line.trim().strip_prefix("sm_")?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Writes a text into the log buffer that the options name, if they do, and how long it is.
pub fn write_log(count: u32, options: Out<u32>, values: Out<Out<u8>>, log: [u32; 2], text: &str) -> Outcome {
    let mut found = [None, None];
    for at in 0..count as usize {
        for (place, wanted) in found.iter_mut().zip(log) {
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
