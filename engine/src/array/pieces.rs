//! Arrays from what each part owns, without the whole array in between: files and other libraries hand over
//! one piece per part.

use std::sync::Arc;

use partita_kernels::DType;

use super::data::check_not_recording;
use super::node::Node;
use super::storage::Storage;
use super::{Array, check_parts};
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::program::{Copying, Place, copy_box, execute};
use crate::team::Team;

impl Array {
    /// An array whose part p owns the elements `pieces[p]`: their memory form, in C order of the box that part
    /// p owns. Of elements that several parts hold, every part is given its copy.
    ///
    /// # Errors
    /// Another number of pieces than parts, or of bytes in one; inside a `Loop`'s step; memory.
    pub fn from_pieces<P: AsRef<[u8]>>(
        team: &Team,
        dist: &Distribution,
        dtype: DType,
        pieces: &[P],
    ) -> Result<Array> {
        check_parts("Array::from_pieces", team, dist)?;
        check_not_recording(
            "making an array from elements",
            "an array made inside a Loop's step",
            "make the array before the Loop and use it in the step",
        )?;
        let refuse = |expected: String, given: String| {
            Error::invalid("Array::from_pieces", expected, given, "pass what each part owns, in C order")
        };
        if pieces.len() != dist.parts() {
            return Err(refuse(format!("{} pieces", dist.parts()), pieces.len().to_string()));
        }
        let storage = Storage::new(team, Arc::new(dist.clone()), dtype)?;
        let _guard = team.evaluation();
        for (part, piece) in pieces.iter().enumerate() {
            let (owned, piece) = (dist.owned(part), piece.as_ref());
            let bytes = owned.volume()? as usize * dtype.size_bytes();
            if piece.len() != bytes {
                return Err(refuse(format!("{bytes} bytes for part {part}"), piece.len().to_string()));
            }
            let Some(place) = storage.place(team, part).filter(|_| bytes > 0) else { continue };
            if place.stored == owned {
                place.device.upload(&place.allocation, 0, piece)?;
                continue;
            }
            let buffer = place.device.alloc(bytes as u64)?;
            place.device.upload(buffer.allocation(), 0, piece)?;
            let allocation = Arc::clone(buffer.allocation());
            let aside = Place { device: place.device.clone(), allocation, stored: owned };
            let copy = copy_box(&aside, &owned, &place, &owned, Copying { dtype, add: false })?;
            execute(vec![copy])?;
        }
        Ok(Array::of(Node::ready(dtype, team, storage)))
    }
}
