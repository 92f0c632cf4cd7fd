//! `__distarray__`, the Distributed Array Protocol 0.10, as plain data: what a part says about itself
//! ([`PartDescription`]), whether that is well-formed ([`PartDescription::parse`]), whether all parts
//! together make an array ([`check_all`]), and the way from and to a [`partita::index::Distribution`]. Memory
//! is not used: the buffer is described, never read.
//!
//! Where the published text contradicts itself or its validator, this is what holds here:
//!
//! - `start == stop` is an empty part, although the key's own paragraph demands `stop > start`.
//! - An empty cyclic part has `start == size`; `start == proc_grid_rank * block_size` beyond it is accepted,
//!   as the published validator demands it. The starts of other parts are any order of the turns, so slices
//!   of cyclic arrays are valid.
//! - The published count of a cyclic part is wrong where the partial block is not at grid rank 0. Here a part
//!   holds what dealing out blocks gives it.
//! - `padding` is a tuple; a list is accepted, as the published examples print lists.
//! - The `size` of an unstructured dimension whose indices repeat is the number of different indices; the
//!   number of listed ones is accepted, as the text's formula gives that.
//! - In a periodic dimension too, the padding at the ends counts in `size`, since `start` may not be negative
//!   and `stop` not exceed `size`. There it holds copies from the other end: 8 cells on a ring with one cell
//!   of padding on either side have `size` 10. It is no wider than what the part at the other end owns.
//! - A seam has one width, so where the halos on both sides differ the narrower one is said. The buffer is
//!   then a window of what the part stores. A part that owns nothing has no halo, and neither have its seams.
//! - Versions 0.x are accepted. Keys that the table of the text does not have for a `dist_type` are refused,
//!   and so is `dist_type` 'n' of earlier drafts: an undistributed dimension is `{}`.

mod description;
mod dim;
mod export;
mod import;

pub use description::{PROTOCOL, PartDescription, VERSION};
pub use dim::{DimDict, Kind};
#[cfg(feature = "python")]
pub(crate) use import::cut;
pub use import::to_distribution;

use crate::value::{Refusal, Result, Value};

/// Reads the descriptions of all parts, in the order of their ranks, and checks them together.
pub fn parse_all(parts: &[Value]) -> Result<Vec<PartDescription>> {
    let read =
        |(part, value)| PartDescription::parse(value).map_err(|refusal: Refusal| refusal.of_part(part));
    let parts: Vec<PartDescription> = parts.iter().enumerate().map(read).collect::<Result<_>>()?;
    check_all(&parts)?;
    Ok(parts)
}

/// Checks that the descriptions of all parts, in the order of their ranks, describe one array: they agree in
/// what is global, every place of the process grid is taken once, and the parts cover every dimension without
/// gap and overlap.
pub fn check_all(parts: &[PartDescription]) -> Result<()> {
    description::check_parts(parts).map_err(|refusal| refusal.of_protocol(PROTOCOL))
}

/// Whether an object is a well-formed description, and why not; for the description of one part or, as a
/// list, of all.
pub fn validate(value: &Value) -> (bool, String) {
    verdict(match value {
        Value::List(parts) => parse_all(parts).map(drop),
        one => PartDescription::parse(one).map(drop),
    })
}

/// The same for a `dim_data` without its buffer.
pub fn validate_dim_data(value: &Value) -> (bool, String) {
    verdict(
        description::dims(value, None).map(drop).map_err(|e| e.under_key("dim_data").of_protocol(PROTOCOL)),
    )
}

fn verdict(read: Result<()>) -> (bool, String) {
    read.map_or_else(|refusal| (false, refusal.to_string()), |()| (true, String::new()))
}
