//! The shared memory of one block: its arrays with unused bytes between them, and the checks of accesses.

use super::bits::{set_value, value};
use super::clocks::Now;
use super::fault::{Checked, Kind, Trouble};
use super::shadow::{Access, Clash, Hazard, Shadow};
use crate::ptx::Array;

pub(crate) struct Shared<'e> {
    arrays: &'e [Array],
    /// Bytes that the launch gives.
    given: u32,
    data: Vec<u8>,
    shadow: Shadow,
}

impl<'e> Shared<'e> {
    pub(crate) fn new(arrays: &'e [Array], given: u32) -> Shared<'e> {
        let end = |array: &Array| array.start + array.bytes.unwrap_or(given);
        let bytes = arrays.iter().map(end).max().unwrap_or(0) as usize;
        Shared { arrays, given, data: vec![0; bytes], shadow: Shadow::new(bytes) }
    }

    #[inline(always)]
    fn offset(&self, address: u64, bytes: usize, does: &str) -> Checked<usize> {
        let inside = |array: &Array| {
            let (offset, all) =
                (address.wrapping_sub(array.start as u64), u64::from(array.bytes.unwrap_or(self.given)));
            offset < all && bytes as u64 <= all - offset
        };
        if !self.arrays.iter().any(inside) {
            let what = format!("{does} {bytes} bytes at {}", self.near(address));
            return Err(Trouble::at(Kind::SharedOutOfBounds, address, what));
        }
        if address & (bytes as u64 - 1) != 0 {
            let what = format!("{does} {bytes} bytes at {}, no multiple of {bytes}", self.near(address));
            return Err(Trouble::at(Kind::Misaligned, address, what));
        }
        Ok(address as usize)
    }

    /// The address in words: its distance from the nearest array.
    fn near(&self, address: u64) -> String {
        let distance = |array: &&Array| {
            let bytes = array.bytes.unwrap_or(self.given);
            let (start, end) = (array.start as u64, (array.start + bytes) as u64);
            start.saturating_sub(address).max(address.saturating_sub(end.saturating_sub(1)))
        };
        let Some(array) = self.arrays.iter().min_by_key(distance) else {
            return format!("{address:#x} of shared memory, and the kernel declares none");
        };
        let Array { name, start, bytes } = array;
        let offset = address.wrapping_sub(*start as u64) as i64;
        let bytes = bytes.unwrap_or(self.given);
        format!("`{name}`{offset:+} of {bytes} bytes")
    }

    #[inline(always)]
    pub(crate) fn load(&mut self, address: u64, bytes: usize, now: &Now) -> Checked<u128> {
        let offset = self.offset(address, bytes, "read of")?;
        if let Err(clash) = self.shadow.read_own(offset, bytes, Access::Weak, now) {
            return Err(self.clash(address, bytes, clash, now, "read"));
        }
        Ok(value(&self.data[offset..offset + bytes]))
    }

    #[inline(always)]
    pub(crate) fn store(&mut self, address: u64, bytes: usize, value: u128, now: &Now) -> Checked<()> {
        let offset = self.offset(address, bytes, "write of")?;
        if let Err(clash) = self.shadow.write_own(offset, bytes, Access::Weak, now) {
            return Err(self.clash(address, bytes, clash, now, "write"));
        }
        set_value(&mut self.data[offset..offset + bytes], value);
        Ok(())
    }

    /// Replaces a value by what `change` makes of it; the old one.
    pub(crate) fn change(
        &mut self,
        address: u64,
        bytes: usize,
        change: impl FnOnce(u64) -> u64,
        now: &Now,
    ) -> Checked<u64> {
        let offset = self.offset(address, bytes, "atomic operation on")?;
        let read = self.shadow.read_own(offset, bytes, Access::Strong, now);
        let used = read.and_then(|()| self.shadow.write_own(offset, bytes, Access::Strong, now));
        if let Err(clash) = used {
            return Err(self.clash(address, bytes, clash, now, "atomic operation"));
        }
        let old = value(&self.data[offset..offset + bytes]) as u64;
        set_value(&mut self.data[offset..offset + bytes], change(old) as u128);
        Ok(old)
    }

    /// A copy to this address begins.
    pub(crate) fn expect(&mut self, address: u64, bytes: usize, now: &Now) -> Checked<()> {
        let offset = self.offset(address, bytes, "copy of")?;
        if let Err(clash) = self.shadow.write_later(offset, bytes, now) {
            return Err(self.clash(address, bytes, clash, now, "copy"));
        }
        Ok(())
    }

    /// Writes the value of an expected copy.
    pub(crate) fn land(&mut self, address: u64, bytes: usize, value: u128, now: &Now) {
        self.shadow.land(address as usize, bytes, now);
        set_value(&mut self.data[address as usize..address as usize + bytes], value);
    }

    #[cold]
    fn clash(&self, address: u64, bytes: usize, clash: Clash, now: &Now, does: &str) -> Box<Trouble> {
        let kind = match clash.hazard {
            Hazard::Unwritten => Kind::SharedUninitialised,
            _ => Kind::SharedRace,
        };
        let own = Now { launch: now.block, ..*now };
        let what = format!("{does} of {bytes} bytes at {}, {}", self.near(address), clash.describe(&own));
        Trouble::at(kind, address, what)
    }
}
