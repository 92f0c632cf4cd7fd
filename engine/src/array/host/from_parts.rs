//! Creates arrays from one block per part of this rank (files, other libraries), copied or used in place.
//! The whole array is never assembled.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::Array;
use crate::array::handle::check_parts;
use crate::array::host::read::check_not_recording;
use crate::array::loops::recorder::Recorder;
use crate::array::memory::storage::Storage;
use crate::array::record::node::Node;
use crate::device::Buffer;
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::program::{CopyMode, Place, copy_box};
use crate::team::Team;

impl Array {
    /// An array whose parts own the elements of `pieces`: their memory form, in C order of the box that a
    /// part owns. Each rank passes the pieces of its members, in order. Of elements that several parts hold,
    /// every part is given its copy. Not collective.
    ///
    /// # Errors
    /// Another number of pieces than parts here, or of bytes in one; inside a `Loop`'s step; memory.
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
        let here = parts_here(team, dist);
        if pieces.len() != here.len() {
            return Err(refuse(format!("{} pieces", here.len()), pieces.len().to_string()));
        }
        let storage = Storage::new(team, Arc::new(dist.clone()), dtype)?;
        let _guard = team.evaluation();
        for (part, piece) in here.into_iter().zip(pieces) {
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
            let packed = Place { device: place.device.clone(), allocation, stored: owned };
            let copy = copy_box(&packed, &owned, &place, &owned, CopyMode { dtype, add: false })?;
            Recorder::current().execute(vec![copy])?;
        }
        Ok(Array::of(Node::ready(dtype, team, storage)))
    }

    /// An array whose parts are the memory of `pieces`, used where it is: C order of the box that a part
    /// owns. Each rank passes the pieces of its members, in order; one without cells may be `None`. Of memory
    /// that was borrowed nothing is ever written; assignments go to other memory.
    ///
    /// # Errors
    /// Another number of pieces than parts here; one on another device, with too few bytes, at an address
    /// that the element type does not allow, or of which clones are kept although it was not borrowed; a
    /// distribution with halos.
    pub fn over(
        team: &Team,
        dist: &Distribution,
        dtype: DType,
        pieces: Vec<Option<Buffer>>,
    ) -> Result<Array> {
        check_parts("Array::over", team, dist)?;
        let refuse = |expected: String, given: String| {
            Error::invalid("Array::over", expected, given, "copy the memory instead")
        };
        let here = parts_here(team, dist);
        if pieces.len() != here.len() {
            return Err(refuse(format!("{} pieces", here.len()), pieces.len().to_string()));
        }
        let mut parts = vec![None; dist.parts()];
        for (part, piece) in here.into_iter().zip(pieces) {
            let (owned, device, size) = (dist.owned(part), team.device(part), dtype.size_bytes() as u64);
            let bytes = owned.volume()? as u64 * size;
            if dist.stored(part) != owned {
                return Err(refuse("parts without halo".to_owned(), format!("a halo around part {part}")));
            }
            let fits = |piece: &Buffer| {
                let memory = piece.allocation();
                piece.device() == device && memory.bytes >= bytes && memory.is_aligned(size)
            };
            let piece = piece.filter(|_| bytes > 0);
            // Else an assignment to this array would change what others find in the memory.
            if piece.as_ref().is_some_and(|piece| piece.is_shared() && !piece.allocation().is_borrowed()) {
                let expected = format!("memory that nobody else leases for part {part}");
                return Err(refuse(expected, "a clone of a buffer that is still in use".to_owned()));
            }
            if bytes > 0 && !piece.as_ref().is_some_and(fits) {
                let expected =
                    format!("{bytes} bytes aligned to {size} on {} for part {part}", device.name());
                let given = piece.map_or("none".to_owned(), |piece| format!("{:?}", piece.allocation()));
                return Err(refuse(expected, given));
            }
            parts[part] = piece;
        }
        let storage = Storage::from_parts(Arc::new(dist.clone()), parts);
        Ok(Array::of(Node::ready(dtype, team, storage)))
    }
}

/// The parts whose memory this rank has.
fn parts_here(team: &Team, dist: &Distribution) -> Vec<usize> {
    (0..dist.parts()).filter(|&part| team.is_here(part)).collect()
}
