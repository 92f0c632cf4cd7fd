//! Calls that need no device: initialisation, versions, names of errors, addresses of symbols.

use super::super::abi::Code;
use super::{Out, Text, exports, symbols};
use std::ffi::{c_char, c_void};

exports! {
    fn cuInit(flags: u32) Nothing, |driver, _device| {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        driver.initialised = true;
        Ok(())
    }

    fn cuDriverGetVersion(version: Out<i32>) Nothing, |driver, _device| { version.put(driver.config.version) }

    fn cuGetErrorName(error: u32, text: Out<*const c_char>) Nothing, |_driver, _device| {
        match Code::text(error) {
            Some((name, _)) => text.put(name.as_ptr()),
            None => text.put(std::ptr::null()).and(Err(Code::INVALID_VALUE)),
        }
    }

    fn cuGetErrorString(error: u32, text: Out<*const c_char>) Nothing, |_driver, _device| {
        match Code::text(error) {
            Some((_, sentence)) => text.put(sentence.as_ptr()),
            None => text.put(std::ptr::null()).and(Err(Code::INVALID_VALUE)),
        }
    }

    fn cuGetProcAddress(symbol: Text, out: Out<*const c_void>, version: i32, flags: u64) Nothing,
    |_driver, _device| {
        let _ = (version, flags);
        out.put(address(&symbol.read()?).ok_or(Code::NOT_FOUND)?)
    }

    fn cuGetProcAddress_v2(
        symbol: Text, out: Out<*const c_void>, version: i32, flags: u64, status: Out<u32>,
    ) Nothing,
    |_driver, _device| {
        let _ = (version, flags);
        let found = address(&symbol.read()?);
        // `CU_GET_PROC_ADDRESS_SUCCESS` and `CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`.
        status.offer(if found.is_some() { 0 } else { 1 });
        out.put(found.unwrap_or(std::ptr::null()))?;
        found.map(|_| ()).ok_or(Code::NOT_FOUND)
    }
}

/// The newest version of a symbol.
fn address(symbol: &str) -> Option<*const c_void> {
    let table = symbols();
    let newest = ["_v3", "_v2", ""].map(|suffix| format!("{symbol}{suffix}"));
    newest
        .iter()
        .find_map(|wanted| table.iter().find(|(name, _)| name == wanted).map(|(_, address)| *address))
}
