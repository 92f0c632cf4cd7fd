//! Index lists in device memory for dimensions without a closed form (unstructured, custom): one list per
//! part.

use std::collections::HashMap;
use std::sync::Arc;

use partita_kernels::DType;

use crate::device::{Buffer, collect, integers};
use crate::error::Result;
use crate::index::{DimMap, Distribution, Region};
use crate::program::Place;
use crate::team::Team;

/// The entries of a list, one for each coordinate that a part holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum IndexList {
    /// Which global coordinate it is, in this integer type.
    Coordinates(DType),
    /// Whether the part owns it, and not just a copy.
    Owned,
}

impl IndexList {
    pub fn dtype(self) -> DType {
        match self {
            IndexList::Coordinates(dtype) => dtype,
            IndexList::Owned => DType::Bool,
        }
    }

    /// The list in its memory form.
    fn bytes(self, map: &DimMap, coordinate: usize) -> Result<Vec<u8>> {
        let held = map.try_owned_set(coordinate)?;
        match self {
            IndexList::Coordinates(dtype) => integers("a list of coordinates", dtype, held.iter()),
            IndexList::Owned => {
                let is_owned = |global| u8::from(map.owner(global) == Some(coordinate));
                collect("a list of coordinates", held.iter().map(is_owned))
            }
        }
    }

    /// The lists of dimension `d` for every part that computes something.
    pub fn upload(
        self,
        team: &Team,
        dist: &Distribution,
        d: usize,
        uploads: &mut Vec<Buffer>,
    ) -> Result<Vec<Option<Place>>> {
        upload(team, dist, d, uploads, |coordinate| self.bytes(dist.map(d), coordinate))
    }
}

/// Bytes per coordinate of the grid along dimension `d`, for every part that computes something over `dist`.
pub(crate) fn upload(
    team: &Team,
    dist: &Distribution,
    d: usize,
    uploads: &mut Vec<Buffer>,
    bytes: impl Fn(usize) -> Result<Vec<u8>>,
) -> Result<Vec<Option<Place>>> {
    let mut known: HashMap<(u64, usize), Place> = HashMap::new();
    let mut places = Vec::with_capacity(dist.parts());
    for part in 0..dist.parts() {
        if dist.owned(part).is_empty() || !team.is_here(part) {
            places.push(None);
            continue;
        }
        let (device, coordinate) = (team.device(part), dist.grid().coordinate(part)[d] as usize);
        if let Some(place) = known.get(&(device.number(), coordinate)) {
            places.push(Some(place.clone()));
            continue;
        }
        let bytes = bytes(coordinate)?;
        let buffer = device.alloc_for_upload(bytes.len() as u64)?;
        device.upload(buffer.allocation(), 0, &bytes)?;
        let held = dist.map(d).owned(coordinate);
        let stored = Region::new(&[held.start], &[held.end])?;
        let place = Place { device: device.clone(), allocation: Arc::clone(buffer.allocation()), stored };
        uploads.push(buffer);
        known.insert((device.number(), coordinate), place.clone());
        places.push(Some(place));
    }
    Ok(places)
}
