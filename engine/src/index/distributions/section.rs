//! Partition arithmetic: the owned and halo sections of a part, and the cells that a part needs for its share
//! of a view; these are the queries of MLIR's Dist dialect, in any number of dimensions. [`Tile`]: a
//! distribution as a grid of boxes, which is the form of the `__partitioned__` protocol.

use std::fmt;

use super::distribution::Distribution;
use crate::index::domain::Domain;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::maps::DimMap;
use crate::index::region::{Index, Region};

/// On which side of the owned cells a section lies along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum SectionSide {
    /// Below them: the left halo.
    Lower,
    /// Among them.
    Owned,
    /// Above them: the right halo.
    Upper,
}

/// A box of what a part stores: the owned cells, or a piece of the halo around them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Section {
    /// Its side along every dimension.
    pub sides: Vec<SectionSide>,
    /// Its cells; any section may be empty, the owned one too.
    pub region: Region,
}

impl Section {
    /// In how many dimensions it lies outside the owned cells.
    pub fn outside(&self) -> usize {
        self.sides.iter().filter(|side| **side != SectionSide::Owned).count()
    }
}

impl fmt::Display for Section {
    /// `owned`, `face 0-`, `edge 0- 2+` or `corner 0- 1+ 2+`: the dimensions and directions it lies outside
    /// in.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.outside() {
            0 => return f.write_str("owned"),
            1 => "face",
            outside if outside == self.sides.len() => "corner",
            _ => "edge",
        })?;
        for (d, side) in self.sides.iter().enumerate() {
            match side {
                SectionSide::Lower => write!(f, " {d}-")?,
                SectionSide::Owned => {}
                SectionSide::Upper => write!(f, " {d}+")?,
            }
        }
        Ok(())
    }
}

/// The owned and halo sections of `stored` around `owned`, in C order of their sides; in one dimension left
/// halo, owned, right halo. Without dimensions there is one section.
pub fn sections(owned: &Region, stored: &Region) -> Result<Vec<Section>> {
    check_rank("sections", owned.rank(), stored.rank())?;
    let span = |d: usize, side: SectionSide| match side {
        SectionSide::Lower => (stored.start()[d].min(owned.start()[d]), owned.start()[d]),
        SectionSide::Owned => (owned.start()[d], owned.stop()[d]),
        SectionSide::Upper => (owned.stop()[d], stored.stop()[d].max(owned.stop()[d])),
    };
    let choices = Region::from_shape(&Index::filled(owned.rank(), 3))?;
    let section = |choice: Index| {
        let sides: Vec<SectionSide> = choice
            .iter()
            .map(|&c| [SectionSide::Lower, SectionSide::Owned, SectionSide::Upper][c as usize])
            .collect();
        Section { region: Region::from_fn(owned.rank(), |d| span(d, sides[d])), sides }
    };
    Ok(choices.points().map(section).collect())
}

impl Distribution {
    /// The sections that `part` stores, empty ones included; see [`sections`].
    #[doc = example!(
        dist:
        "assert_eq!(dist.sections(0)?.iter().filter(|section| section.outside() == 0).count(), 1);"
    )]
    pub fn sections(&self, part: usize) -> Result<Vec<Section>> {
        self.check_part(part)?;
        sections(&self.owned(part), &self.stored(part))
    }

    /// The beginning of the cells that `part` stores: the offsets of its first section, usually a halo's.
    pub fn local_offsets(&self, part: usize) -> Result<Index> {
        self.check_part(part)?;
        Ok(*self.stored(part).start())
    }

    /// Left halo, owned, right halo of an array that has a halo along one dimension at most; only the owned
    /// section of an array without dimensions. Others have more sections than three.
    pub fn parts_of(&self, part: usize) -> Result<Vec<Region>> {
        let sections = self.sections(part)?;
        if sections.iter().any(|section| section.outside() > 1 && !section.region.is_empty()) {
            return Err(IndexError::new(
                ErrorKind::Halo,
                "Distribution::parts_of",
                "a halo along one dimension at most",
                format!("halo {} {}", self.halo().0, self.halo().1),
                "use the sections, of which there are three per dimension",
            ));
        }
        let owned = self.owned(part);
        if self.rank() == 0 {
            return Ok(vec![owned]);
        }
        let cut = (0..self.rank()).find(|&d| self.stored(part).extent(d) > owned.extent(d)).unwrap_or(0);
        let lies = |section: &&Section, side: SectionSide| {
            section.sides[cut] == side && section.outside() == usize::from(side != SectionSide::Owned)
        };
        let find = |side| sections.iter().find(|section| lies(section, side)).map(|s| s.region);
        Ok([SectionSide::Lower, SectionSide::Owned, SectionSide::Upper]
            .into_iter()
            .filter_map(find)
            .collect())
    }
}

/// The elements of a slice that lie in a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocalTarget {
    /// The position of the first of them in the part, counted from its first cell. The Dist dialect's text
    /// asks for this.
    pub offsets_in_part: Index,
    /// The position of the first of them in the slice: the number of its elements before the part. The
    /// dialect's implementation answers this, and its *targets* are meant so.
    pub offsets_in_slice: Index,
    /// Their number along every dimension.
    pub sizes: Index,
}

impl LocalTarget {
    /// The target: the elements as a box of view coordinates, in which the slice's first element is 0.
    pub fn target(&self) -> Result<Region> {
        let stop = Index::from_fn(self.sizes.rank(), |d| self.offsets_in_slice[d] + self.sizes[d]);
        Region::new(&self.offsets_in_slice, &stop)
    }
}

/// Which elements of `slice`, whose strides are positive, lie in the box `part`.
pub fn local_target_of_slice(part: &Region, slice: &Domain) -> Result<LocalTarget> {
    const OPERATION: &str = "local_target_of_slice";
    check_view(OPERATION, part.rank(), slice)?;
    let before = |d: usize, end: i64| {
        let range = slice.dim(d);
        let steps = (i128::from(end) - i128::from(range.first()) + i128::from(range.stride()) - 1)
            .div_euclid(i128::from(range.stride()));
        steps.clamp(0, i128::from(range.len())) as i64
    };
    let offsets_in_slice = Index::from_fn(part.rank(), |d| before(d, part.start()[d]));
    let sizes = Index::from_fn(part.rank(), |d| before(d, part.stop()[d]) - offsets_in_slice[d]);
    let offsets_in_part = Index::from_fn(part.rank(), |d| match slice.dim(d).nth(offsets_in_slice[d]) {
        Some(first) if sizes[d] > 0 => first - part.start()[d],
        _ => 0,
    });
    Ok(LocalTarget { offsets_in_part, offsets_in_slice, sizes })
}

/// The rule by which a bounding box takes in another box.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bounding {
    /// The smallest box around both; one that is empty does not count.
    Hull,
    /// Their intersection.
    Inner,
}

/// The cells between the first and last element that `view` has in `target`, in global coordinates. The
/// target is in view coordinates: element 0 of the view is its first.
pub fn required(view: &Domain, target: &Region) -> Result<Region> {
    check_view("local_bounding_box", target.rank(), view)?;
    let mut ends = (Index::zeros(view.rank()), Index::zeros(view.rank()));
    for d in 0..view.rank() {
        let (range, first) = (view.dim(d), target.start()[d]);
        let len = target.extent(d).min(range.len().saturating_sub(first)).max(0);
        let start = range.stride().saturating_mul(first).saturating_add(range.first());
        let extent = if len > 0 { (len - 1).saturating_mul(range.stride()).saturating_add(1) } else { 0 };
        (ends.0[d], ends.1[d]) = (start, start.saturating_add(extent));
    }
    Region::new(&ends.0, &ends.1)
}

/// The cells that a member needs for its `target` of `view`, joined with or cut by an earlier box.
pub fn local_bounding_box(
    view: &Domain,
    target: &Region,
    bounding: Option<(&Region, Bounding)>,
) -> Result<Region> {
    let required = required(view, target)?;
    let Some((earlier, how)) = bounding else { return Ok(required) };
    check_rank("local_bounding_box", required.rank(), earlier.rank())?;
    Ok(match how {
        Bounding::Hull => earlier.hull(&required),
        Bounding::Inner => earlier.intersect(&required),
    })
}

/// The cells that `target` of `view` needs and the member owns, and that lie in an earlier core: global
/// coordinates, and never more than before. Views that share a core can be computed by one loop over it.
pub fn local_core(owned: &Region, view: &Domain, target: &Region, core: Option<&Region>) -> Result<Region> {
    let required = required(view, target)?;
    check_rank("local_core", required.rank(), owned.rank())?;
    let cut = owned.intersect(&required);
    match core {
        None => Ok(cut),
        Some(core) => {
            check_rank("local_core", core.rank(), owned.rank())?;
            Ok(core.intersect(&cut))
        }
    }
}

/// The part of a target for which every view reads owned cells only, in view coordinates: the loop bounds
/// that shifted views of one array share, so that they fuse.
pub fn core_view(owned: &Region, views: &[Domain], target: &Region) -> Result<Region> {
    views.iter().try_fold(*target, |core, view| {
        let local = local_target_of_slice(owned, view)?.target()?;
        check_rank("core_view", core.rank(), local.rank())?;
        Ok(core.intersect(&local))
    })
}

fn check_view(operation: &'static str, rank: usize, view: &Domain) -> Result<()> {
    check_rank(operation, rank, view.rank())?;
    let Some(d) = view.dims().iter().position(|range| range.stride() < 0) else { return Ok(()) };
    let given = format!("{} in dimension {d}", view.dim(d).stride());
    let remedy = "turn the view round first";
    Err(IndexError::new(ErrorKind::Range, operation, "strides above 0", given, remedy))
}

/// The Dist dialect's attribute of the type of an array for one member: the team, the offsets of the member's
/// data, and the extents of its parts. Numbers may be left open (`?`), the team never.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Environment {
    /// The team's number.
    pub team: u64,
    /// The offsets of the first part; none for an array without dimensions.
    pub local_offsets: Vec<Option<i64>>,
    /// The extents of left halo, owned and right halo; none for an array without dimensions.
    pub local_parts: Vec<Vec<Option<i64>>>,
    /// The device that holds the data, where it is not the host.
    pub device: Option<String>,
}

impl Environment {
    /// The attribute of the array of member `part` of a team.
    pub fn of(dist: &Distribution, part: usize, team: u64) -> Result<Environment> {
        let parts = dist.parts_of(part)?;
        Environment::new(team, &dist.local_offsets(part)?, &parts)
    }

    /// An environment from the offset of the first part and the parts, which touch one another in order.
    pub fn new(team: u64, local_offsets: &[i64], parts: &[Region]) -> Result<Environment> {
        let known = |values: &[i64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let rank = local_offsets.len();
        let extents =
            |part: &Region| known(&if part.is_empty() { Index::zeros(rank) } else { part.extents() });
        let filled: Vec<&Region> = parts.iter().filter(|part| !part.is_empty()).collect();
        let hull = filled.iter().try_fold(None, |hull: Option<Region>, part| match hull {
            None => Some(Some(**part)),
            Some(hull) => {
                let both = hull.hull(part);
                let sum = hull.volume().ok()? + part.volume().ok()?;
                (both.volume().ok()? == sum).then_some(Some(both))
            }
        });
        let fits = match hull {
            Some(Some(hull)) => hull.rank() == rank && hull.start()[..] == *local_offsets,
            other => other.is_some(),
        };
        if !fits || (rank > 0 && parts.len() != 3) {
            return Err(IndexError::new(
                ErrorKind::Bounds,
                "init_dist_array",
                "left halo, owned and right halo that make one box at the offset",
                format!("{parts:?} at {local_offsets:?}"),
                "use an empty region for a part that is missing",
            ));
        }
        let local_parts = if rank == 0 { Vec::new() } else { parts.iter().map(extents).collect() };
        Ok(Environment { team, local_offsets: known(local_offsets), local_parts, device: None })
    }

    /// The same with every offset and extent left open.
    pub fn dynamic(&self) -> Environment {
        let open = |values: &Vec<Option<i64>>| vec![None; values.len()];
        Environment {
            local_offsets: open(&self.local_offsets),
            local_parts: self.local_parts.iter().map(open).collect(),
            ..self.clone()
        }
    }

    /// Whether both can describe the same data: where both say a number, it is the same.
    pub fn fits(&self, other: &Environment) -> bool {
        let alike = |a: &[Option<i64>], b: &[Option<i64>]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_none() || b.is_none() || a == b)
        };
        self.team == other.team
            && self.device == other.device
            && alike(&self.local_offsets, &other.local_offsets)
            && self.local_parts.len() == other.local_parts.len()
            && self.local_parts.iter().zip(&other.local_parts).all(|(a, b)| alike(a, b))
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[Option<i64>], between: &str| {
            let text = |value: &Option<i64>| value.map_or("?".to_owned(), |value| value.to_string());
            values.iter().map(text).collect::<Vec<_>>().join(between)
        };
        write!(f, "#dist.dist_env<team = {}", self.team)?;
        if !self.local_offsets.is_empty() {
            let parts: Vec<String> = self.local_parts.iter().map(|part| list(part, "x")).collect();
            write!(f, " loffs = {} lparts = {}", list(&self.local_offsets, ","), parts.join(","))?;
        }
        f.write_str(">")?;
        match &self.device {
            Some(device) => write!(f, ", #region.gpu_env<device = \"{device}\">"),
            None => Ok(()),
        }
    }
}

/// The cells that one part owns, at its place in the grid. Halos lie outside of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// The coordinate in the grid of parts.
    pub position: Index,
    /// The first cell.
    pub start: Index,
    /// The extents; empty tiles have one of 0.
    pub shape: Index,
}

impl Distribution {
    /// One tile for every grid position, in C order. Together they cover the shape exactly once.
    ///
    /// Refused are dimensions that the draft does not consider: cyclic, unstructured, replicated and users'
    /// maps, and block maps with irregular bounds. Regular are even divisions, whose extents differ by one at
    /// most, and equal extents with a shorter remainder at the end.
    pub fn tiles(&self) -> Result<Vec<Tile>> {
        for d in 0..self.rank() {
            let map = self.map(d);
            if !map.is_block() || !regular(map) {
                let what =
                    if map.is_block() { "irregular bounds".to_owned() } else { format!("a map, {map},") };
                return Err(IndexError::new(
                    ErrorKind::Unsupported,
                    "partition tiling",
                    "a regular grid of blocks",
                    format!("{what} in dimension {d}"),
                    "redistribute to even blocks first",
                ));
            }
        }
        let tile = |part: usize| {
            let owned = self.owned(part);
            Tile { position: self.grid().coordinate(part), start: *owned.start(), shape: owned.extents() }
        };
        let positions = Region::from_shape(self.grid().shape())?;
        Ok(positions.points().map(|at| tile(self.grid().part_at(|d| at[d]))).collect())
    }
}

fn regular(map: &DimMap) -> bool {
    let first = map.count(0);
    let counts = || (0..map.parts()).map(|part| map.count(part));
    let (least, most) = counts().fold((first, first), |(least, most), n| (least.min(n), most.max(n)));
    // With a remainder, the full parts come first, then the shorter one, then empty ones.
    let full = (0..map.parts()).take_while(|&part| map.count(part) == first).count();
    most - least <= 1 || (most == first && (full + 1..map.parts()).all(|part| map.count(part) == 0))
}
