//! The consumer of a lent part.

use partita::array::{Cells, Part};

/// Overwrites the cells that a part of one dimension owns, which is lent to be written.
pub fn overwrite(part: &Part, values: impl Fn(i64) -> i64) -> partita::Result<()> {
    let owned = part.region(Cells::Owned);
    let written: Vec<i64> = (owned.start()[0]..owned.stop()[0]).map(values).collect();
    if let Some(first) = part.address(Cells::Owned)? {
        // SAFETY: the cells of a part of one dimension lie one behind the other, and nobody else uses the
        // memory while it is lent.
        unsafe { first.cast::<i64>().as_ptr().copy_from_nonoverlapping(written.as_ptr(), written.len()) }
    }
    Ok(())
}
