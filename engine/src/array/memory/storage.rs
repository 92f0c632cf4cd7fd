//! [`Storage`]: the memory of a computed array, one buffer per part, each with the part's stored box as its
//! [`Pitch`] says, and how much of its halo is valid ([`HaloWidths`]).
//!
//! [`Pitch`]: how far apart the rows of an array's own memory are, and where they begin. A row is the cells
//! of a part along the last dimension; along the one before where 16 bytes are a whole number of the last
//! one's extents, such as the two numbers of a complex one.
//!
//! GPUs and vector units load 16 bytes at a time where the address is a multiple of 16, and a warp's loads
//! are fastest in lines of 128. So, in arrays of one *shift*, cells of one coordinate along rows lie alike:
//! at `(coordinate + shift) * cell size`, modulo 16 bytes, in every row, whatever the halos and extents, on
//! every part. A value computed from a slice takes the shift that lets it lie as the operand's cells do.
//!
//! The memory of a part is a box in C order that may be longer than what the part stores, along its rows:
//! its *room*. What is added before the first cell and after the last is padding, which nobody reads. Rows
//! that are multiples of 16 bytes anyway get none, so whole arrays stay contiguous; nor do rows of which
//! padding would be more than 6 percent (`PARTITA_PADDING`): these lie in C order without gaps.
//!
//! Elements moved between memories: halo updates, copies, redistribution. Their plans are remembered, because
//! the same distributions ask for the same plan again and again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use partita_kernels::DType;

use crate::config::{config, say};
use crate::device::Buffer;
use crate::error::Result;
use crate::index::{self, Along, Distribution, Index, Region};
use crate::plan::{LinkTraffic, Plan, Scope};
use crate::program::{CopyMode, Place, Schedule, copy_box};
use crate::team::Team;
/// The parts of one array.
#[derive(Debug)]
pub(crate) struct Storage {
    /// The layout of the buffers: as declared, with halos as wide as reads have needed, and with a dimension.
    pub dist: Arc<Distribution>,
    /// The array's own distribution. Reading never changes it, whatever memory the reads take.
    pub declared: Arc<Distribution>,
    /// One per part; `None` where the part stores nothing, and for parts of other ranks.
    pub parts: Vec<Option<Buffer>>,
    /// The pitch of their rows.
    pub pitch: Pitch,
    /// Later ones have larger numbers.
    pub number: u64,
    fresh: Mutex<HaloWidths>,
    /// Held by everything that shows this memory.
    shown: Arc<()>,
}

static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The number that the next memory gets, or one below it.
pub(crate) fn next_number() -> u64 {
    NUMBERS.load(Ordering::Relaxed)
}

impl Storage {
    /// Buffers for every part; contents are arbitrary. Nothing is allocated if a device can never hold its
    /// part.
    pub fn new(team: &Team, dist: Arc<Distribution>, dtype: DType) -> Result<Storage> {
        Storage::pitched(team, dist, dtype, Pitch::of(dtype))
    }

    /// The same with rows that lie as some other array's.
    pub fn pitched(team: &Team, dist: Arc<Distribution>, dtype: DType, pitch: Pitch) -> Result<Storage> {
        dist.sound()?;
        let (dist, declared) = (dist.in_memory(), dist);
        for part in (0..dist.parts()).filter(|&part| team.is_here(part)) {
            let stored = dist.stored(part);
            if !stored.is_empty() {
                team.device(part).check_size(bytes_of(&pitch.room(&stored), dtype)?)?;
            }
        }
        let mut parts = Vec::with_capacity(dist.parts());
        for part in 0..dist.parts() {
            let stored = dist.stored(part);
            parts.push(if stored.is_empty() || !team.is_here(part) {
                None
            } else {
                Some(team.device(part).alloc(bytes_of(&pitch.room(&stored), dtype)?)?)
            });
        }
        Ok(Storage::from_parts(declared, parts, pitch))
    }

    /// Storage over buffers that exist.
    pub fn from_parts(dist: Arc<Distribution>, parts: Vec<Option<Buffer>>, pitch: Pitch) -> Storage {
        let (dist, declared) = (dist.in_memory(), dist);
        let fresh = Mutex::new(HaloWidths::zero(dist.rank()));
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Storage { dist, declared, parts, pitch, number, fresh, shown: Arc::default() }
    }

    /// The same memory for an array on a distribution whose parts it has room for.
    pub fn declaring(self, declared: &Arc<Distribution>) -> Storage {
        debug_assert!(self.dist.has_room_for(&declared.in_memory()), "{} for {declared}", self.dist);
        Storage { declared: Arc::clone(declared), ..self }
    }

    /// The same memory, a line of one cell, for an array without dimensions.
    pub fn without_dimensions(&self) -> Storage {
        let Storage { dist, parts, pitch, number, shown, .. } = self;
        let declared = dist.without_inner().map_or_else(|| Arc::clone(dist), Arc::new);
        let fresh = Mutex::new(HaloWidths::zero(dist.rank()));
        let (dist, parts, shown) = (Arc::clone(dist), parts.clone(), Arc::clone(shown));
        Storage { dist, declared, parts, pitch: *pitch, number: *number, fresh, shown }
    }

    /// New memory of the same layout, for an array on the same distribution.
    pub fn like(&self, team: &Team, dtype: DType) -> Result<Storage> {
        Ok(Storage::pitched(team, Arc::clone(&self.dist), dtype, self.pitch)?.declaring(&self.declared))
    }

    /// The same memory as parts of `dist`, which store as many cells in the same order; `None` if padding
    /// lies between them. There are no halos.
    pub fn seen_on(&self, dist: Arc<Distribution>) -> Option<Storage> {
        let pitch = self.pitch.seen(&self.dist, &dist)?;
        Some(self.seen_at(dist, pitch))
    }

    /// The same memory as parts of `dist`, of which it is known how their rows lie.
    pub fn seen_at(&self, dist: Arc<Distribution>, pitch: Pitch) -> Storage {
        let seen = Storage::from_parts(dist, self.parts.clone(), pitch);
        Storage { shown: Arc::clone(&self.shown), ..seen }
    }

    /// The same memory after somebody else wrote to it.
    pub fn renewed(&self) -> Storage {
        let renewed = Storage::from_parts(Arc::clone(&self.dist), self.parts.clone(), self.pitch);
        Storage { shown: Arc::clone(&self.shown), ..renewed.declaring(&self.declared) }
    }

    /// Whether all of it is another owner's, who may write to it and expects writes.
    pub fn is_lent_to_be_written(&self) -> bool {
        self.parts.iter().flatten().all(|buffer| buffer.allocation().is_lent_to_be_written())
    }

    /// Has the memory count as seen by somebody else for as long as this is held.
    pub fn show(&self) -> Arc<()> {
        Arc::clone(&self.shown)
    }

    /// Whether other values are in this memory too.
    pub fn is_seen(&self) -> bool {
        Arc::strong_count(&self.shown) > 1
    }

    /// Whether its memory has room for halos.
    pub fn has_halo(&self) -> bool {
        let (lo, hi) = self.dist.halo();
        lo.iter().chain(hi.iter()).any(|&width| width > 0)
    }

    /// The place of each part.
    pub fn places(&self, team: &Team) -> Vec<Option<Place>> {
        (0..self.parts.len()).map(|part| self.place(team, part)).collect()
    }

    /// The place of one part.
    pub fn place(&self, team: &Team, part: usize) -> Option<Place> {
        self.parts[part].as_ref().map(|buffer| Place {
            device: team.device(part).clone(),
            allocation: Arc::clone(buffer.allocation()),
            stored: self.pitch.room(&self.dist.stored(part)),
        })
    }

    /// The widths of the halo that are current.
    pub fn valid_halo(&self) -> HaloWidths {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// States how much of the halo is current.
    pub fn set_valid_halo(&self, fresh: HaloWidths) {
        *self.fresh.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
    }

    /// Of the halo no more is current than this.
    pub fn narrow_valid_halo(&self, most: &HaloWidths) {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        *fresh = fresh.min(most);
    }

    /// After owned cells changed, no halo is current.
    pub fn invalidate_halo(&self) {
        self.set_valid_halo(HaloWidths::zero(self.dist.rank()));
    }
}

/// The bytes of a box of elements; more than there can be where they are not to be counted.
pub(crate) fn bytes_of(region: &Region, dtype: DType) -> Result<u64> {
    Ok((region.volume()? as u64).saturating_mul(dtype.size_bytes() as u64))
}

/// The widths of a halo that hold its owners' current values, at each part as far as the part stores it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct HaloWidths {
    pub lo: Index,
    pub hi: Index,
    pub corners: bool,
}

impl HaloWidths {
    pub fn zero(rank: usize) -> HaloWidths {
        HaloWidths { lo: Index::zeros(rank), hi: Index::zeros(rank), corners: true }
    }

    /// As wide as the wider of both.
    pub fn max(&self, other: &HaloWidths) -> HaloWidths {
        self.with(other, i64::max, self.corners || other.corners)
    }

    /// As wide as the narrower of both.
    pub fn min(&self, other: &HaloWidths) -> HaloWidths {
        self.with(other, i64::min, self.corners && other.corners)
    }

    fn with(&self, other: &HaloWidths, choose: fn(i64, i64) -> i64, corners: bool) -> HaloWidths {
        let each = |a: &Index, b: &Index| Index::from_fn(a.rank(), |d| choose(a[d], b[d]));
        HaloWidths { lo: each(&self.lo, &other.lo), hi: each(&self.hi, &other.hi), corners }
    }

    pub fn covers(&self, other: &HaloWidths) -> bool {
        let wide = |a: &Index, b: &Index| a.iter().zip(b.iter()).all(|(a, b)| a >= b);
        wide(&self.lo, &other.lo) && wide(&self.hi, &other.hi) && (self.corners || !other.corners)
    }

    pub fn is_zero(&self) -> bool {
        self.lo.iter().chain(self.hi.iter()).all(|&width| width == 0)
    }

    /// Widens to what `read` reaches beyond `owned`.
    pub fn include(&mut self, read: &Region, owned: &Region) {
        let mut outside = 0;
        for d in 0..owned.rank() {
            let lo = owned.start()[d] - read.start()[d];
            let hi = read.stop()[d] - owned.stop()[d];
            outside += usize::from(lo > 0 || hi > 0);
            self.lo[d] = self.lo[d].max(lo);
            self.hi[d] = self.hi[d].max(hi);
        }
        self.corners |= outside > 1;
    }
}

/// The distribution with halos at least so wide; `None` if it cannot have them, or if they would need more
/// memory than the array.
pub(crate) fn widened(dist: &Arc<Distribution>, halo: &HaloWidths) -> Result<Option<Arc<Distribution>>> {
    if dist.stores(&halo.lo, &halo.hi) {
        return Ok(Some(Arc::clone(dist)));
    }
    let Ok(wide) = dist.widened(&halo.lo, &halo.hi) else { return Ok(None) };
    let cells = (0..wide.parts()).map(|p| wide.stored(p).volume()).sum::<std::result::Result<i64, _>>()?;
    Ok((cells <= 2 * wide.global().volume()?).then(|| Arc::new(wide)))
}

/// The widest load of one thread, in bytes.
const VECTOR_BYTES: i64 = 16;

/// Rows begin at multiples of the first that costs little enough.
const ROW_BYTES: [i64; 4] = [128, 64, 32, VECTOR_BYTES];

/// Rows along a dimension, of cells of `cell_bytes`.
pub(crate) struct Row {
    pub dim: usize,
    cell_bytes: i64,
}

/// The layout of an array's rows in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pitch {
    /// One after the other: memory of other owners, and arrays viewed in another shape.
    Packed,
    /// At multiples of 16 bytes.
    Aligned { element_bytes: u8, shift: u8 },
}

impl Pitch {
    /// The number of elements that shifts are counted modulo: a vector of the smallest.
    pub const SHIFTS: i64 = VECTOR_BYTES;

    /// That of an array which is congruent to no other one in particular.
    pub fn of(dtype: DType) -> Pitch {
        Pitch::shifted(dtype, 0)
    }

    /// That in which cells lie as those lie whose coordinates are by so much larger.
    pub fn shifted(dtype: DType, shift: i64) -> Pitch {
        match config().padding_percent {
            0 => Pitch::Packed,
            _ => Pitch::Aligned {
                element_bytes: dtype.size_bytes() as u8,
                shift: shift.rem_euclid(Pitch::SHIFTS) as u8,
            },
        }
    }

    /// The distance of its cells from where coordinates alone would have them. Other owners' memory is taken
    /// to begin at a multiple of 16 bytes.
    pub fn shift(self) -> i64 {
        match self {
            Pitch::Packed => 0,
            Pitch::Aligned { shift, .. } => i64::from(shift),
        }
    }

    /// The box that memory for these cells holds in C order.
    pub fn room(self, stored: &Region) -> Region {
        self.within(stored, config().padding_percent)
    }

    fn within(self, stored: &Region, percent: i64) -> Region {
        let Some(Row { dim, cell_bytes: size }) = self.row(&stored.extents()) else { return *stored };
        let extent = stored.extent(dim);
        let lead = (stored.start()[dim] + self.shift()).rem_euclid(VECTOR_BYTES / size);
        let row = lead + extent;
        let is_one = (0..dim).all(|d| stored.extent(d) == 1);
        let is_cheap = |width: &i64| (width - extent).saturating_mul(100) <= extent.saturating_mul(percent);
        let width = match is_one || row % (VECTOR_BYTES / size) == 0 {
            true => Some(row).filter(|width| is_one || is_cheap(width)),
            false => ROW_BYTES.map(|bytes| rounded_up(row, bytes / size)).into_iter().find(is_cheap),
        };
        let Some(width) = width else { return *stored };
        let start = stored.start()[dim] - lead;
        Region::from_fn(stored.rank(), |d| match d == dim {
            true => (start, start + width),
            false => (stored.start()[d], stored.stop()[d]),
        })
    }

    /// Which way the rows of a box go; `None` if there are none, or without pitch.
    pub fn row(self, extents: &Index) -> Option<Row> {
        let (Pitch::Aligned { element_bytes, .. }, Some(dim)) = (self, extents.rank().checked_sub(1)) else {
            return None;
        };
        let last = Row { dim, cell_bytes: i64::from(element_bytes) };
        let whole = last.cell_bytes.saturating_mul(extents[dim]);
        match extents.contains(&0) {
            true => None,
            false if dim > 0 && VECTOR_BYTES % whole == 0 => Some(Row { dim: dim - 1, cell_bytes: whole }),
            false => Some(last),
        }
    }

    /// The pitch of this memory viewed on another distribution, whose parts store the same cells in the same
    /// order; `None` if they lie otherwise.
    pub fn seen(self, from: &Distribution, to: &Distribution) -> Option<Pitch> {
        let ends = |part: usize| [from, to].map(|dist| (dist.stored(part), self.room(&dist.stored(part))));
        if (0..from.parts()).all(|part| ends(part)[0].0 == ends(part)[0].1) {
            return Some(Pitch::Packed);
        }
        // Rows that are the same: how far before the cells the room begins, and how long it is.
        let row = |(stored, room): (Region, Region)| {
            let Row { dim, .. } = self.row(&stored.extents())?;
            let inner = |region: &Region| -> Vec<i64> {
                region.extents()[dim..].iter().copied().filter(|&extent| extent != 1).collect()
            };
            Some((stored.start()[dim] - room.start()[dim], inner(&stored), inner(&room)))
        };
        (0..from.parts()).all(|part| ends(part).map(row)[0] == ends(part).map(row)[1]).then_some(self)
    }
}

fn rounded_up(cells: i64, unit: i64) -> i64 {
    (cells + unit - 1) / unit * unit
}

/// The arguments that a plan follows from.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Halo(Distribution, Index, Index, bool),
    Fetch(Distribution, Vec<Region>),
    Boxes(Distribution, Vec<Region>, Vec<Option<usize>>),
    Aligned(Distribution, Distribution, Vec<Along>, Vec<Option<usize>>),
}

impl Key {
    fn sound(&self) -> Result<()> {
        match self {
            Key::Halo(dist, ..) | Key::Fetch(dist, _) | Key::Boxes(dist, ..) => Ok(dist.sound()?),
            Key::Aligned(from, to, ..) => Ok(from.sound().and_then(|()| to.sound())?),
        }
    }

    fn build(&self, scope: Scope) -> index::Result<Plan> {
        let entry = |list: &[Option<usize>], part: usize| list.get(part).copied().flatten();
        match self {
            // Memory is laid out by packed coordinates; along blocks, and only there, these have halos.
            Key::Halo(dist, lo, hi, corners) => scope.halo_within(&dist.packed(), (lo, hi), *corners),
            Key::Fetch(dist, needs) => scope.fetch(dist, needs),
            Key::Boxes(from, needs, colocated) => scope.boxes(from, needs, &|part| entry(colocated, part)),
            Key::Aligned(from, to, axes, colocated) => {
                scope.aligned(from, to, axes, &|part| entry(colocated, part))
            }
        }
    }
}

/// The most plans that are remembered, and the most moves of all of them, about; beyond it all are forgotten.
const MAX_PLANS: usize = 256;
const MAX_MOVES: usize = 1 << 20;

/// What a plan follows from, and on which rank of which teams.
type PlanKey = (Arc<Key>, Option<[u64; 2]>);

#[derive(Default)]
struct Known {
    plans: HashMap<PlanKey, Arc<Plan>>,
    moves: usize,
}

/// The plan between arrays of two teams, with the moves of this rank's parts.
fn remembered(key: Key, teams: (&Team, &Team)) -> Result<Arc<Plan>> {
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (Arc::new(key), teams.0.wire().map(|_| [teams.0.layout(), teams.1.layout()]));
    if let Some(plan) = known().plans.get(&key) {
        return Ok(Arc::clone(plan));
    }
    let (from, to) = (|part| teams.0.rank_of(part), |part| teams.1.rank_of(part));
    let built = key.0.build(match key.1 {
        Some(_) => Scope::Rank { rank: teams.0.rank(), from: &from, to: &to },
        None => Scope::All,
    });
    // A user's map may be inconsistent: then the error is the map's.
    key.0.sound()?;
    let again = Arc::clone(&key.0);
    let plan = Arc::new(built?.with_whole(move || again.build(Scope::All)));
    if config().debug >= 4 {
        say(format_args!("{plan}"));
    }
    let mut known = known();
    if known.plans.len() >= MAX_PLANS || known.moves + plan.moves().len() > MAX_MOVES {
        *known = Known::default();
    }
    known.moves += plan.moves().len();
    known.plans.insert(key, Arc::clone(&plan));
    Ok(plan)
}

/// The plan that makes a halo current, at each part as much of it as the part stores.
pub(crate) fn halo_plan(dist: &Distribution, need: &HaloWidths, team: &Team) -> Result<Arc<Plan>> {
    remembered(Key::Halo(dist.clone(), need.lo, need.hi, need.corners), (team, team))
}

/// The plan that brings each part a box, see [`Plan::fetch`].
pub(crate) fn fetch_plan(dist: &Distribution, needs: Vec<Region>, team: &Team) -> Result<Arc<Plan>> {
    remembered(Key::Fetch(dist.clone(), needs), (team, team))
}

/// The plan that brings each part a box of an operand in packed coordinates. What lies beyond the ends, which
/// rolled arrays read, wraps around, whether the distribution is periodic or not.
pub(crate) fn operand_plan(from: &Distribution, needs: Vec<Region>, team: &Team) -> Result<Arc<Plan>> {
    let from = from.packed();
    fetch_plan(&wrapped_around(&from, |d| reach_outside(&from, &needs, d)), needs, team)
}

/// The distribution, periodic along the dimensions of which something reaches past the ends.
fn wrapped_around(dist: &Distribution, past: impl Fn(usize) -> bool) -> Distribution {
    match (0..dist.rank()).any(|d| !dist.periodic(d) && past(d)) {
        true => dist.periodic_along(|d| dist.periodic(d) || past(d)),
        false => dist.clone(),
    }
}

fn reach_outside(dist: &Distribution, needs: &[Region], d: usize) -> bool {
    let outside = |need: &Region| need.start()[d] < 0 || need.stop()[d] > dist.map(d).size();
    needs.iter().any(|need| !need.is_empty() && outside(need))
}

/// The plan that brings each part a box of an operand of any maps, see [`Plan::boxes`]; beyond the ends as
/// [`operand_plan`].
pub(crate) fn box_plan(from: &Distribution, needs: Vec<Region>, team: &Team) -> Result<Arc<Plan>> {
    let teams = (team, team);
    let source = wrapped_around(from, |d| reach_outside(from, &needs, d));
    remembered(Key::Boxes(source, needs, copies_at_hand(from, teams)), teams)
}

/// The plan that brings what the members of `to` need along `axes`, see [`Plan::aligned`]; beyond the ends as
/// [`operand_plan`].
pub(crate) fn aligned_plan(
    from: &Distribution,
    to: &Distribution,
    axes: Vec<Along>,
    teams: (&Team, &Team),
) -> Result<Arc<Plan>> {
    let colocated = copies_at_hand(from, teams);
    let past = |d: usize| match axes[d] {
        Along::Dim { dim, .. } if to.map(dim).size() > 0 => {
            let (start, stop) = axes[d].span(0, to.map(dim).size());
            start < 0 || stop > from.map(d).size()
        }
        Along::Dim { .. } | Along::Pinned(_) => false,
    };
    let from = wrapped_around(from, past);
    remembered(Key::Aligned(from, to.clone(), axes, colocated), teams)
}

/// The plan that moves all elements to another distribution, of the same team or another.
pub(crate) fn moving_plan(
    from: &Distribution,
    to: &Distribution,
    teams: (&Team, &Team),
) -> Result<Arc<Plan>> {
    aligned_plan(from, to, (0..to.rank()).map(Along::same).collect(), teams)
}

/// Who is colocated matters to copies alone.
fn copies_at_hand(from: &Distribution, teams: (&Team, &Team)) -> Vec<Option<usize>> {
    if from.has_copies() { colocated(teams.0, teams.1) } else { Vec::new() }
}

/// Whether a link is between two members. The n-th members of different teams on a device are the same.
pub(crate) fn between_members<'t>(from: &'t Team, to: &'t Team) -> impl Fn(&LinkTraffic) -> bool + 't {
    let member = |team: &Team, member: usize| {
        let device = team.device_of(member);
        (device, (0..member).filter(|&other| team.device_of(other) == device).count())
    };
    move |link| member(from, link.from_part) != member(to, link.to_part)
}

/// For every member of `to`, the member of `from` that is the same: of one team, the one with its number;
/// of another, one on the same device.
fn colocated(from: &Team, to: &Team) -> Vec<Option<usize>> {
    if from == to {
        return (0..to.size()).map(Some).collect();
    }
    // The first of several on one device.
    let first: HashMap<(usize, u64), usize> =
        (0..from.size()).rev().map(|member| (from.device_of(member), member)).collect();
    (0..to.size()).map(|member| first.get(&to.device_of(member)).copied()).collect()
}

impl Storage {
    /// The plan that makes the halo current as wide as `need`; `None` if it is.
    pub fn missing_halo_plan(&self, need: &HaloWidths, team: &Team) -> Result<Option<Arc<Plan>>> {
        if self.valid_halo().covers(need) { Ok(None) } else { halo_plan(&self.dist, need, team).map(Some) }
    }

    /// Commands that copy all owned cells to `to`, which owns the same.
    pub fn copy_owned(&self, team: &Team, dtype: DType, to: &Storage) -> Result<Schedule> {
        self.copy_boxes(team, dtype, to, |part| Ok(vec![self.dist.owned(part)]))
    }

    /// Commands that copy all owned cells and what is current of the halos to `to`, which owns the same; says
    /// how wide its halos will be current.
    pub fn copy_current(&self, team: &Team, dtype: DType, to: &Storage) -> Result<(Schedule, HaloWidths)> {
        let fresh = Some(self.valid_halo())
            .filter(|fresh| fresh.corners)
            .unwrap_or(HaloWidths::zero(self.dist.rank()));
        let reach =
            |part| Ok(vec![self.dist.reach(part, &fresh.lo, &fresh.hi)?.intersect(&self.dist.stored(part))]);
        Ok((self.copy_boxes(team, dtype, to, reach)?, fresh))
    }

    /// Commands that copy boxes of each part to the same cells of `to`.
    pub fn copy_boxes(
        &self,
        team: &Team,
        dtype: DType,
        to: &Storage,
        boxes: impl Fn(usize) -> Result<Vec<Region>>,
    ) -> Result<Schedule> {
        copy_boxes((&self.places(team), &to.places(team)), dtype, boxes)
    }
}

/// Commands that copy boxes of each part from its place in one memory to the same cells of another.
pub(crate) fn copy_boxes(
    (from, to): (&[Option<Place>], &[Option<Place>]),
    dtype: DType,
    boxes: impl Fn(usize) -> Result<Vec<Region>>,
) -> Result<Schedule> {
    let mut schedule = Schedule::new();
    for (part, ends) in from.iter().zip(to).enumerate() {
        let (Some(from), Some(to)) = ends else { continue };
        for piece in boxes(part)?.iter().filter(|piece| !piece.is_empty()) {
            schedule.push(copy_box(from, piece, to, piece, CopyMode { dtype, add: false })?);
        }
    }
    Ok(schedule)
}

#[cfg(test)]
mod tests;
