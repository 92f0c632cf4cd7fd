//! Fetches any box of an array for each member. Cells that the member owns are used in place.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::array::bind::schedule::Values;
use crate::array::host::part::Part;
use crate::array::lower::steps::list::{ExchangeField, MemoryId, StepList};
use crate::array::memory::storage::fetch_plan;
use crate::array::recorder::recording::Recorder;
use crate::array::run::cells::download;
use crate::array::run::evaluate::StepRun;
use crate::array::{Array, Element};
use crate::device::{Buffer, zeros};
use crate::error::{Error, Result};
use crate::index::{Distribution, Index, Region, Section, check_rank, sections};
use crate::program::Place;

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
    memory: Option<(Place, Buffer)>,
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
        let dist = self.distribution()?;
        let cut = |(part, asked): (usize, &Region)| cut(&dist, part, asked);
        let cuts = requests.iter().enumerate().map(cut).collect::<Result<Vec<Vec<Section>>>>()?;
        let (mut list, mut fields) = (StepList::default(), Vec::new());
        let (team, dtype, shape) = (self.team(), self.dtype(), self.shape());
        for slot in (0..cuts.first().map_or(0, Vec::len)).filter(|&slot| cuts[0][slot].outside() > 0) {
            let needs: Vec<Region> = cuts.iter().map(|sections| sections[slot].region).collect();
            let (plan, to) = (fetch_plan(&storage.dist, needs.clone(), team)?, list.boxes(dtype, needs));
            if !plan.is_empty() {
                let (operation, what, from) = ("request", "requested boxes", MemoryId::Array(0));
                fields.push(ExchangeField { operation, what, plan, from, to, dtype, shape, halo: None });
            }
        }
        list.exchange(fields);
        let mut values = Values::default();
        values.hold(0, Arc::clone(&self.node));
        let steps = StepRun { team, recorder: &Recorder::current(), list: &list, results: &[] };
        // Nothing is released: the boxes are handed out.
        steps.run(&mut values, &FxHashMap::default(), None)?;
        let requested = |(part, sections): (usize, Vec<Section>)| {
            let mut boxes = 0..list.boxes.len();
            let piece = |section: Section| {
                let memory = match section.outside() {
                    0 => storage.place(team, part).zip(storage.parts[part].clone()),
                    _ => boxes.next().and_then(|at| values.boxes(at)?[part].clone()),
                };
                let memory = memory.filter(|_| !section.region.is_empty());
                SectionMemory { section, memory }
            };
            Requested { array: self.clone(), part, pieces: sections.into_iter().map(piece).collect() }
        };
        Ok(cuts.into_iter().enumerate().map(requested).collect())
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
        self.pieces.get(section)?.memory.as_ref().map(|(place, _)| place)
    }

    /// The memory of a section, for export; none if it is empty. What the part owns is where it was.
    ///
    /// # Errors
    /// None for a section that exists.
    pub fn memory(&self, section: usize) -> Result<Option<Part>> {
        let Some(piece) = self.pieces.get(section) else { return Ok(None) };
        let part = |(place, buffer): &(Place, Buffer)| {
            Part::of_box(&self.array, self.part, &piece.section.region, place, buffer)
        };
        piece.memory.as_ref().map(part).transpose()
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
        let region = match piece.section.sides.is_empty() {
            // Memory without dimensions is a line of one cell.
            true => &Region::from_shape(&[1])?,
            false => &piece.section.region,
        };
        let mut elements: Vec<T> = zeros(region.volume()? as usize, &self.array.team().devices())?;
        if let Some((place, _)) = &piece.memory {
            let _guard = self.array.team().evaluation()?;
            download(place, region, T::DTYPE, bytemuck::cast_slice_mut(&mut elements))?;
        }
        Ok(elements)
    }
}
