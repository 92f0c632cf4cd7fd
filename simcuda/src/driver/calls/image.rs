//! What modules are loaded from: PTX text, or an image that the linker made of one; and the logs of both.

use super::super::abi::{Code, Outcome};
use super::super::config::Config;
use super::{Out, Text};
use crate::ptx::Program;

/// `CU_JIT_ERROR_LOG_BUFFER`, and its size.
pub const LOG: [u32; 2] = [5, 6];
/// `CU_JIT_INFO_LOG_BUFFER`, and its size.
pub const INFO_LOG: [u32; 2] = [3, 4];
/// The first bytes of a cubin and of a fat binary.
pub const BINARY: [[u8; 4]; 2] = [*b"\x7fELF", 0xba55_ed50_u32.to_le_bytes()];

/// What an image begins with: as every ELF file, then a name that no real one has.
pub const IMAGE: [u8; 12] = *b"\x7fELF simcuda";

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

/// The text of an image linked for such devices; why not, if it is none.
pub fn text_of(image: Text, sm: u32) -> Result<String, (Code, String)> {
    let invalid = |code| (code, "a module without an image".to_owned());
    let bytes = |count| image.bytes(count).map_err(invalid);
    if !image.begins_with(&IMAGE).map_err(invalid)? {
        return Err((Code::NO_BINARY_FOR_GPU, "a binary image of a real linker cannot run here".to_owned()));
    }
    let head = bytes(IMAGE.len() + 12)?;
    let numbers = &head[IMAGE.len()..];
    let linked = u32::from_le_bytes(std::array::from_fn(|at| numbers[at]));
    // Machine code runs on its own generation, from its own number on.
    if linked / 10 != sm / 10 || linked > sm {
        return Err((Code::NO_BINARY_FOR_GPU, format!("the image was linked for sm_{linked}")));
    }
    let length = u64::from_le_bytes(std::array::from_fn(|at| numbers[4 + at])) as usize;
    let text = bytes(head.len() + length)?.split_off(head.len());
    String::from_utf8(text).map_err(|_| (Code::INVALID_IMAGE, "the image is damaged".to_owned()))
}
