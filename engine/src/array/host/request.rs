//! Fetches any box of an array for each member. Cells that the member owns are used in place.

use std::sync::Arc;

use crate::array::memory::plans::fetch_plan;
use crate::array::memory::storage::bytes_of;
use crate::array::recorder::recording::Recorder;
use crate::array::run::cells::download;
use crate::array::{Array, Element};
use crate::device::{Buffer, zeros};
use crate::error::{Error, Result};
use crate::index::{Distribution, Index, Region, Section, check_rank, sections};
use crate::program::Place;
use crate::transport::{Field, lower_between_ranks};

/// The request of one member: in one dimension the left halo, its own cells and the right halo; see
/// [`sections`] for more. The values are those at the time of the request.
#[derive(Clone)]
pub struct Requested {
    // Held so that assignments to the array go to other memory.
    array: Array,
    part: usize,
    pieces: Vec<SectionMemory>,
}

/// One section, and where it is.
#[derive(Clone)]
struct SectionMemory {
    section: Section,
    place: Option<Place>,
    _lease: Option<Buffer>,
}

impl Array {
    /// Brings to each part the box `requests[part]` of global cells. Boxes may overlap each other, be empty,
    /// or miss what the part owns; where a dimension is periodic they may wrap around. Computes if
    /// necessary.
    ///
    /// Collective over the team. `default_partition` gives boxes to callers that need none in
    /// particular.
    ///
    /// # Errors
    /// Another number of boxes than parts; boxes outside the shape; dimensions that are not blocks; memory;
    /// those of [`Array::eval`].
    #[doc = example!(
        "let boxes = [Region::new(&[0, 0], &[1, 3])?, Region::new(&[1, 0], &[2, 3])?]; // Rows."
        "let rows = u.request(&boxes)?;"
        "assert_eq!(rows.len(), 2);"
    )]
    pub fn request(&self, requests: &[Region]) -> Result<Vec<Requested>> {
        self.eval()?;
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        if requests.len() != storage.dist.parts() {
            let expected = format!("{} boxes, one per part", storage.dist.parts());
            let remedy = "ask for an empty box where nothing is needed";
            return Err(Error::invalid("request", expected, requests.len().to_string(), remedy));
        }
        let _guard = self.team().evaluation()?;
        let cut = |(part, asked): (usize, &Region)| cut(&storage.dist, part, asked);
        let cuts = requests.iter().enumerate().map(cut).collect::<Result<Vec<Vec<Section>>>>()?;
        let mut requested: Vec<Requested> =
            (0..cuts.len()).map(|part| Requested { array: self.clone(), part, pieces: Vec::new() }).collect();
        let slots = cuts.first().map_or(0, Vec::len);
        let mut fetched = Vec::new();
        for slot in 0..slots {
            let is_own = cuts[0][slot].outside() == 0;
            let mut places = Vec::with_capacity(cuts.len());
            for (part, sections) in cuts.iter().enumerate() {
                let section = sections[slot].clone();
                let (place, lease) = match is_own {
                    true => (storage.place(self.team(), part), storage.parts[part].clone()),
                    false => self.room(part, &section.region)?,
                };
                let place = place.filter(|_| !section.region.is_empty());
                places.push(place.clone());
                requested[part].pieces.push(SectionMemory { section, place, _lease: lease });
            }
            if !is_own {
                let needs = cuts.iter().map(|sections| sections[slot].region).collect();
                fetched.push((fetch_plan(&storage.dist, needs)?, places));
            }
        }
        let from = storage.places(self.team());
        let fields: Vec<Field> =
            fetched.iter().map(|(plan, to)| Field { plan, from: &from, to, dtype: self.dtype() }).collect();
        self.team().count_messages(fetched.iter().map(|(plan, _)| plan.messages()).sum());
        let teams = (self.team(), self.team());
        Recorder::current().exchange(&lower_between_ranks("request", teams, &fields)?)?;
        Ok(requested)
    }

    /// Memory for a box at a part.
    fn room(&self, part: usize, region: &Region) -> Result<(Option<Place>, Option<Buffer>)> {
        if region.is_empty() || !self.team().is_here(part) {
            return Ok((None, None));
        }
        let device = self.team().device(part).clone();
        let buffer = device.alloc(bytes_of(region, self.dtype())?)?;
        let place = Place { device, allocation: Arc::clone(buffer.allocation()), stored: *region };
        Ok((Some(place), Some(buffer)))
    }
}

/// The sections of a box around what the part owns of it; all of it is the first section if that is nothing.
fn cut(dist: &Distribution, part: usize, asked: &Region) -> Result<Vec<Section>> {
    check_rank("request", dist.rank(), asked.rank())?;
    let mine = dist.owned(part).intersect(asked);
    if !mine.is_empty() {
        return Ok(sections(&mine, asked)?);
    }
    let end = Region::new(asked.stop(), asked.stop())?;
    Ok(sections(&end, asked)?)
}

impl Requested {
    /// The part that asked.
    pub fn part(&self) -> usize {
        self.part
    }

    /// The sections, in C order of their sides, empty ones included.
    pub fn sections(&self) -> impl Iterator<Item = &Section> {
        self.pieces.iter().map(|piece| &piece.section)
    }

    /// The first cell of the request: that of the first section that is not empty.
    pub fn offset(&self) -> Option<Index> {
        let first = self.sections().find(|section| !section.region.is_empty());
        first.map(|section| *section.region.start())
    }

    /// The memory that holds a section, none if it is empty. What the part owns is in the array's own memory.
    pub fn place(&self, section: usize) -> Option<&Place> {
        self.pieces.get(section)?.place.as_ref()
    }

    /// The elements of a section in C order. Waits.
    ///
    /// # Errors
    /// Another dtype than the array's; no such section; the device's.
    pub fn to_vec<T: Element>(&self, section: usize) -> Result<Vec<T>> {
        if T::DTYPE != self.array.dtype() {
            return Err(Error::element_type("Requested::to_vec", self.array.dtype(), T::DTYPE));
        }
        let Some(piece) = self.pieces.get(section) else {
            let expected = format!("a section below {}", self.pieces.len());
            return Err(Error::invalid("Requested::to_vec", expected, section.to_string(), "count from 0"));
        };
        let region = &piece.section.region;
        let mut elements: Vec<T> = zeros(region.volume()? as usize, &self.array.team().devices())?;
        if let Some(place) = &piece.place {
            let _guard = self.array.team().evaluation()?;
            download(place, region, T::DTYPE, bytemuck::cast_slice_mut(&mut elements))?;
        }
        Ok(elements)
    }
}
