//! [`Bulk`]: the hooks by which an array moves many values at once. [`assign`] tries the hooks and moves the
//! remaining values element by element.

use std::any::Any;

use crate::index::domain::Domain;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};

/// An array as assignment sees it. The hooks return whether they moved everything; those that are not written
/// decline. `Known` hooks are for arrays whose type the author knows (found with [`Bulk::as_any`]), `Any`
/// hooks for all others. Arrays that are only a view of another forward `Known` hooks to it and leave `Any`
/// alone.
///
/// In every hook `mine` are the indices here and `theirs` those of the other array, as many and in the same
/// order. A hook calls others through the [`Call`] it is given.
pub trait Bulk<T> {
    /// The number of dimensions.
    fn rank(&self) -> usize;

    /// The value at an index.
    fn read(&self, index: &[i64]) -> T;

    /// Replaces the value at an index.
    fn write(&mut self, index: &[i64], value: T);

    /// The array itself, for those who know its type.
    fn as_any(&self) -> &dyn Any;

    /// The array itself, to be written by those who know its type.
    fn as_any_mut(&mut self) -> &mut dyn Any;

    /// Whether values are plain data, whose bytes may be copied.
    fn plain(&self) -> bool {
        true
    }

    /// Whether the hooks can deal with another array's rank being different.
    fn can_bulk_transfer_rank_change(&self) -> bool {
        false
    }

    /// Moves values from here to an array whose type is known.
    fn send_known(&self, call: Call, mine: &Domain, other: &mut dyn Bulk<T>, theirs: &Domain) -> bool {
        let _ = (call, mine, other, theirs);
        false
    }

    /// Moves values from an array whose type is known to here.
    fn receive_known(&mut self, call: Call, mine: &Domain, other: &dyn Bulk<T>, theirs: &Domain) -> bool {
        let _ = (call, mine, other, theirs);
        false
    }

    /// Moves values from here to any array.
    fn send_any(&self, call: Call, mine: &Domain, other: &mut dyn Bulk<T>, theirs: &Domain) -> bool {
        let _ = (call, mine, other, theirs);
        false
    }

    /// Moves values from any array to here.
    fn receive_any(&mut self, call: Call, mine: &Domain, other: &dyn Bulk<T>, theirs: &Domain) -> bool {
        let _ = (call, mine, other, theirs);
        false
    }
}

/// How deep a hook was called by other hooks. Hooks that only hand on to each other are stopped: the last one
/// gets the answer that nothing moved, and the values go one by one.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    depth: usize,
    from_first: bool,
}

const DEEPEST: usize = 8;

impl Call {
    /// Tries the four hooks of two arrays, `Known` ones first; whether one of them moved everything.
    pub fn transfer<T>(
        self,
        to: &mut dyn Bulk<T>,
        to_indices: &Domain,
        from: &dyn Bulk<T>,
        from_indices: &Domain,
    ) -> bool {
        if self.depth >= DEEPEST {
            return false;
        }
        let call = Call { depth: self.depth + 1, ..self };
        let mut sides = [true, false];
        if !self.from_first {
            sides.reverse();
        }
        let known = sides.into_iter().any(|from_side| match from_side {
            true => to.receive_known(call, to_indices, from, from_indices),
            false => from.send_known(call, from_indices, to, to_indices),
        });
        known
            || sides.into_iter().any(|from_side| match from_side {
                true => to.receive_any(call, to_indices, from, from_indices),
                false => from.send_any(call, from_indices, to, to_indices),
            })
    }
}

/// Whether, and in which order, [`assign`] tries the hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkTransfer {
    /// Values go one by one.
    Off,
    /// The receiving array is asked first.
    FromFirst,
    /// The sending array is asked first.
    ToFirst,
}

/// `to[to_indices] = from[from_indices]`: as many indices on both sides, in default order. Says whether a
/// hook did it. Hooks are tried for plain values, and between ranks only if both arrays offer that; what no
/// hook moves is moved here. Arrays of different element types have no hooks in common, and are assigned by
/// [`assign_converted`].
pub fn assign<T>(
    to: &mut dyn Bulk<T>,
    to_indices: &Domain,
    from: &dyn Bulk<T>,
    from_indices: &Domain,
    bulk: BulkTransfer,
) -> Result<bool> {
    check(to.rank(), to_indices, from.rank(), from_indices)?;
    let ranks = to.rank() == from.rank()
        || (to.can_bulk_transfer_rank_change() && from.can_bulk_transfer_rank_change());
    let wanted = bulk != BulkTransfer::Off && to.plain() && from.plain() && ranks;
    let call = Call { depth: 0, from_first: bulk == BulkTransfer::FromFirst };
    if wanted && call.transfer(to, to_indices, from, from_indices) {
        return Ok(true);
    }
    for (there, here) in to_indices.iter().zip(from_indices.iter()) {
        to.write(&there, from.read(&here));
    }
    Ok(false)
}

/// [`assign`] between element types, one by one.
pub fn assign_converted<T, U>(
    to: &mut dyn Bulk<T>,
    to_indices: &Domain,
    from: &dyn Bulk<U>,
    from_indices: &Domain,
    convert: impl Fn(U) -> T,
) -> Result<()> {
    check(to.rank(), to_indices, from.rank(), from_indices)?;
    for (there, here) in to_indices.iter().zip(from_indices.iter()) {
        to.write(&there, convert(from.read(&here)));
    }
    Ok(())
}

fn check(to_rank: usize, to_indices: &Domain, from_rank: usize, from_indices: &Domain) -> Result<()> {
    check_rank("assign", to_rank, to_indices.rank())?;
    check_rank("assign", from_rank, from_indices.rank())?;
    if to_indices.num_indices() == from_indices.num_indices() {
        return Ok(());
    }
    let expected = format!("{} indices, as many as {to_indices} has", to_indices.num_indices());
    let given = format!("{} of {from_indices}", from_indices.num_indices());
    Err(IndexError::new(ErrorKind::Size, "assign", expected, given, "slice both sides to one size"))
}

/// Which dimension of `theirs` each dimension of `mine` is, where one of two equally large domains has
/// dimensions of extent 1 that the other has elsewhere or not at all: the others pair up in order. None if
/// they do not.
pub fn paired_dimensions(mine: &Domain, theirs: &Domain) -> Option<Vec<(usize, usize)>> {
    let long = |domain: &Domain| (0..domain.rank()).filter(|&d| domain.dim(d).len() != 1).collect::<Vec<_>>();
    let (a, b) = (long(mine), long(theirs));
    let pairs: Vec<(usize, usize)> = a.iter().copied().zip(b.iter().copied()).collect();
    let alike = pairs.iter().all(|&(d, e)| mine.dim(d).len() == theirs.dim(e).len());
    (a.len() == b.len() && alike).then_some(pairs)
}
