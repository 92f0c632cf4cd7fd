//! Requests of members: any box of an array for each. Cells that the member owns are used in place.

use crate::array::bind::schedule::{BoxMemory, box_memory};
use crate::array::host::part::Part;
use crate::array::lower::steps::list::Boxes;
use crate::array::memory::storage::fetch_plan;
use crate::array::run::cells::download;
use crate::array::run::moves::PendingExchange;
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
        self.start_request(requests)?.finish()
    }

    /// Begins a [request](Array::request): work that is queued before [`PendingRequest::finish`] runs while
    /// cells travel, as after [`Collective::start`](crate::array::collective::Collective::start). Collective
    /// over the team, as is the end.
    ///
    /// # Errors
    /// As [`Array::request`].
    pub fn start_request(&self, requests: &[Region]) -> Result<PendingRequest> {
        self.eval()?;
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        if requests.len() != storage.dist.parts() {
            let expected = format!("{} boxes, one per part", storage.dist.parts());
            let remedy = "ask for an empty box where nothing is needed";
            return Err(Error::invalid("request", expected, requests.len().to_string(), remedy));
        }
        let _guard = self.team().evaluation()?;
        let (dist, team, dtype) = (self.distribution()?, self.team(), self.dtype());
        let cut = |(part, asked): (usize, &Region)| cut(&dist, part, asked);
        let cuts = requests.iter().enumerate().map(cut).collect::<Result<Vec<Vec<Section>>>>()?;
        let (mut memory, mut plans) = (Vec::new(), Vec::new());
        for slot in (0..cuts.first().map_or(0, Vec::len)).filter(|&slot| cuts[0][slot].outside() > 0) {
            let cells: Vec<Region> = cuts.iter().map(|sections| sections[slot].region).collect();
            plans.push(fetch_plan(&storage.dist, cells.clone(), team)?);
            let cells = cells.into_iter().enumerate().collect();
            memory.push(box_memory(team, &Boxes { dtype, cells })?);
        }
        team.count_messages(plans.iter().map(|plan| plan.messages()).sum());
        let places = |boxes: &BoxMemory| boxes.iter().map(|one| Some(one.as_ref()?.0.clone())).collect();
        let (from, to) =
            (storage.places(team), memory.iter().map(places).collect::<Vec<Vec<Option<Place>>>>());
        let moved = plans.iter().zip(&to).filter(|(plan, _)| !plan.is_empty());
        let fields: Vec<Field> = moved.map(|(plan, to)| Field { plan, from: &from, to, dtype }).collect();
        let exchange = lower_between_ranks("request", (team, team), &fields)?;
        let to = memory.iter().flatten().flatten().map(|one| one.1.clone());
        let exchange = PendingExchange::begin((self, &storage), (team, to), exchange)?;
        let requested = |(part, sections): (usize, Vec<Section>)| {
            let mut boxes = memory.iter();
            let piece = |section: Section| {
                let memory = match section.outside() {
                    0 => storage.place(team, part).zip(storage.parts[part].clone()),
                    _ => boxes.next().and_then(|boxes| boxes[part].as_deref().cloned()),
                };
                let memory = memory.filter(|_| !section.region.is_empty());
                SectionMemory { section, memory }
            };
            Requested { array: self.clone(), part, pieces: sections.into_iter().map(piece).collect() }
        };
        let requested = cuts.into_iter().enumerate().map(requested).collect();
        Ok(PendingRequest { requested, exchange })
    }
}

/// A request under way. The array may be assigned to meanwhile; the boxes have the values of the beginning.
#[must_use = "the boxes are there only after `finish`"]
pub struct PendingRequest {
    requested: Vec<Requested>,
    exchange: PendingExchange,
}

impl PendingRequest {
    /// What each part has then.
    ///
    /// # Errors
    /// The device's; other ranks'.
    pub fn finish(self) -> Result<Vec<Requested>> {
        self.exchange.finish().map(|()| self.requested)
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
