//! Exchanges between members of several ranks: what leaves this rank for another is packed on its device and
//! sent as one message, all fields together; what comes is unpacked where it belongs. All ranks lower the
//! same plans; each gets the commands for its own members.

use std::collections::BTreeMap;
use std::sync::Arc;

use partita_kernels::DType;

use super::cells::{End, contiguous, extents};
use super::lower::{Exchange, Field, Link};
use super::path::{Across, Path, path_across};
use crate::device::{Buffer, DeviceKind};
use crate::error::Result;
use crate::index::{Index, Region};
use crate::plan::{AxisSubset, Move, MoveOp, Pairs, Plan};
use crate::program::{Ahead, Command, Place, Reach, Schedule, Span, Way, message_bytes};
use crate::team::Team;
use crate::wire::{Meeting, Ranks};

/// The commands that carry out plans between two teams over the same ranks, as [`lower`](super::lower()) does
/// within one process. `operation` names the exchange where it fails. Collective; a plan that stays within
/// ranks meets nobody.
///
/// # Errors
/// As [`lower`](super::lower()).
pub fn lower(operation: &str, teams: (&Team, &Team), fields: &[Field]) -> Result<Exchange> {
    let Some(ranks) = teams.0.wire() else { return super::lower(fields) };
    let crosses = |m: &Move| teams.0.rank_of(m.from_part) != teams.1.rank_of(m.to_part);
    if !fields.iter().any(|field| field.plan.moves().iter().any(crosses)) {
        let here = fields.iter().map(|field| part_of(field.plan, |m| teams.0.is_here(m.from_part)));
        return super::lower(&with_plans(fields, &here.collect::<Result<Vec<Plan>>>()?));
    }
    // Sums come out in one order whatever is where, so where something crosses, everything that is added
    // waits.
    let waits = |m: &Move| crosses(m) || m.op == MoveOp::Add;
    let here = fields.iter().map(|field| part_of(field.plan, |m| teams.0.is_here(m.from_part) && !waits(m)));
    let here = here.collect::<Result<Vec<Plan>>>()?;
    let local = super::lower(&with_plans(fields, &here))?;
    let crossing = fields.iter().flat_map(|field| field.plan.moves()).filter(|m| crosses(m));
    // Others may come between its departure and its arrival.
    let ranks = &ranks.on_errand();
    let roads = Roads::between(teams, ranks, crossing)?;
    let mut traffic = Traffic::new(teams, &roads);
    let (mut packing, mut unpacking) = (Vec::new(), Vec::new());
    for field in fields {
        let moves: Vec<&Move> = field.plan.moves().iter().filter(|m| waits(m)).collect();
        let slots = moves.iter().map(|m| traffic.slot(m, field)).collect::<Result<Vec<Slot>>>()?;
        packing.push(Half::packing(field, &moves, &slots)?);
        unpacking.push(Half::unpacking(field, &moves, &slots)?);
    }
    let Traffic { leaving, coming, links, mut leases, .. } = traffic;
    let mut pack = super::lower(&fields_of(&packing, fields))?;
    let mut unpack = super::lower(&fields_of(&unpacking, fields))?;
    [&mut pack, &mut unpack].into_iter().for_each(|half| leases.append(&mut half.leases));
    leases.extend(local.leases);
    let plans: Vec<(&Plan, DType)> = fields.iter().map(|field| (field.plan, field.dtype)).collect();
    let dtypes: Vec<String> = fields.iter().map(|field| field.dtype.to_string()).collect();
    let meeting = Arc::new(Meeting::new(format!("{operation} of {}", dtypes.join(", ")), &plans));
    let mut departure: Schedule = vec![Command::Meet { ranks: ranks.clone(), meeting }];
    let (landing, copied): (Vec<_>, Vec<_>) =
        coming.iter().partition(|((_, path), _)| matches!(roads.way(*path), Way::InPlace));
    departure.extend(copied.into_iter().map(|(&(from, path), memory)| {
        let bytes = message_bytes(memory, &roads.way(path));
        Command::Expect { ranks: ranks.clone(), from, bytes }
    }));
    departure.extend(pack.commands().cloned());
    // What lands where it belongs may come at once, so only when everything queued before has been read.
    let landing = landing.into_iter().map(|(&(from, _), memory)| {
        let memory = memory.clone();
        Command::ExpectInPlace { ranks: ranks.clone(), from, memory }
    });
    let mut sends = Schedule::new();
    for ((to, path), memory) in leaving {
        let (way, ahead) = (roads.way(path), Ahead::default());
        if matches!(way, Way::Staged) && Ahead::helps(&memory) {
            departure.push(Command::Fetch { memory: memory.clone(), ahead: ahead.clone() });
        }
        sends.push(Command::Send { ranks: ranks.clone(), to, memory, way, ahead });
    }
    // All together, because messages of one rank to another keep their order. What leaves first: an MPI
    // library may copy what has come while it is told where that belongs, and its neighbour would wait.
    let posted: Schedule = sends.into_iter().chain(landing).collect();
    let mut dispatch = Schedule::new();
    if posted.iter().flat_map(Command::devices).any(|device| device.kind() != DeviceKind::Host) {
        dispatch.extend(posted);
    } else {
        departure.extend(posted);
    }
    departure.extend(local.departure);
    dispatch.extend(local.dispatch);
    let receive = |((from, path), memory)| {
        let way = roads.way(path);
        Command::Receive { ranks: ranks.clone(), from, memory, way }
    };
    let mut arrival: Schedule = coming.into_iter().map(receive).collect();
    arrival.extend(unpack.commands().cloned());
    arrival.extend(local.arrival);
    arrival.extend(roads.reclaim(ranks));
    arrival.push(Command::Settle { ranks: ranks.clone() });
    let mut links: Vec<Link> = local.links.into_iter().chain(links.into_values()).collect();
    links.sort_by_key(|link| (link.to_part, link.from_part, link.path));
    Ok(Exchange { departure, dispatch, arrival, join: Schedule::new(), links, leases })
}

/// Which ways there are between the ranks of an exchange.
struct Roads<'a> {
    teams: (&'a Team, &'a Team),
    host: bool,
    /// Known where CUDA memory goes to CUDA memory.
    reach: Option<&'a Reach>,
}

impl<'a> Roads<'a> {
    /// All ranks come here with the same moves, and so find out together what they have to.
    fn between<'m>(
        teams: (&'a Team, &'a Team),
        ranks: &Ranks,
        mut crossing: impl Iterator<Item = &'m Move>,
    ) -> Result<Roads<'a>> {
        let is_cuda = |team: &Team, part| team.kind(part) == DeviceKind::Cuda;
        let asks = crossing.any(|m| is_cuda(teams.0, m.from_part) && is_cuda(teams.1, m.to_part));
        let reach = if asks { teams.0.reach()? } else { None };
        Ok(Roads { teams, host: ranks.takes_host_memory(), reach })
    }

    /// The path of a move, as both its ranks find it.
    fn path(&self, m: &Move) -> Path {
        let (from, to) = (self.teams.0.rank_of(m.from_part), self.teams.1.rank_of(m.to_part));
        if from == to {
            return Path::Packed;
        }
        let link = Across {
            host: self.host,
            pointers: self.reach.is_some_and(Reach::has_pointers),
            near: self.reach.is_some_and(|reach| reach.is_near(from, to)),
        };
        path_across(self.teams.0.kind(m.from_part), self.teams.1.kind(m.to_part), link)
    }

    fn way(&self, path: Path) -> Way {
        match (path, self.reach) {
            (Path::InPlace | Path::Pointers, _) => Way::InPlace,
            (Path::Shared, Some(reach)) => Way::Shared(Arc::clone(&reach.shares)),
            (Path::Shared | Path::Staged | Path::Kernel | Path::Packed | Path::Peer, _) => Way::Staged,
        }
    }

    /// What ends an exchange in which memory was shown.
    fn reclaim(&self, ranks: &Ranks) -> Option<Command> {
        let shares = Arc::clone(&self.reach?.shares);
        Some(Command::Reclaim { ranks: ranks.clone(), shares })
    }
}

/// The moves of a plan that are chosen.
fn part_of(plan: &Plan, choose: impl Fn(&Move) -> bool) -> Result<Plan> {
    let chosen = plan.moves().iter().filter(|m| choose(m)).cloned().collect();
    Ok(Plan::new(plan.from_parts(), plan.to_parts(), chosen)?)
}

fn with_plans<'a>(fields: &[Field<'a>], plans: &'a [Plan]) -> Vec<Field<'a>> {
    fields.iter().zip(plans).map(|(field, plan)| Field { plan, ..*field }).collect()
}

fn fields_of<'a>(halves: &'a [Half], fields: &[Field]) -> Vec<Field<'a>> {
    let field = |(half, field): (&'a Half, &Field)| {
        let Half { plan, from, to } = half;
        Field { plan, from, to, dtype: field.dtype }
    };
    halves.iter().zip(fields).map(field).collect()
}

/// Where the cells of one move lie between its ends; `None` if this rank has neither end, or if they are sent
/// from where they are, or received where they belong.
struct Slot {
    /// Near the source, for a move that leaves; near the target otherwise.
    place: Option<Place>,
    packs: bool,
    unpacks: bool,
}

/// By the other rank, and in the order in which two ranks' messages follow each other: [`Path`]'s, in which
/// those that are expected in place come last.
type Messages = BTreeMap<(usize, Path), Vec<Span>>;

/// The messages of one exchange; what they hold is in the order of fields and moves.
struct Traffic<'a> {
    teams: (&'a Team, &'a Team),
    roads: &'a Roads<'a>,
    leases: Vec<Buffer>,
    leaving: Messages,
    coming: Messages,
    links: BTreeMap<(usize, usize), Link>,
}

impl<'a> Traffic<'a> {
    fn new(teams: (&'a Team, &'a Team), roads: &'a Roads<'a>) -> Traffic<'a> {
        let (leaving, coming) = (BTreeMap::new(), BTreeMap::new());
        Traffic { teams, roads, leases: Vec::new(), leaving, coming, links: BTreeMap::new() }
    }

    fn slot(&mut self, m: &Move, field: &Field) -> Result<Slot> {
        let slot = self.ends(m, field)?;
        let &Move { from_part, to_part, .. } = m;
        if self.teams.0.is_here(from_part) || self.teams.1.is_here(to_part) {
            let new = || {
                let path = self.roads.path(m);
                Link { from_part, to_part, path, moves: 0, bytes: 0, packed: false }
            };
            let link = self.links.entry((to_part, from_part)).or_insert_with(new);
            link.moves += 1;
            link.bytes += m.elements() * field.dtype.size_bytes() as u64;
            link.packed |= slot.packs || slot.unpacks;
        }
        Ok(slot)
    }

    fn ends(&mut self, m: &Move, field: &Field) -> Result<Slot> {
        let (from_rank, to_rank) = (self.teams.0.rank_of(m.from_part), self.teams.1.rank_of(m.to_part));
        let nothing = Slot { place: None, packs: false, unpacks: false };
        let path = self.roads.path(m);
        match (&field.from[m.from_part], &field.to[m.to_part]) {
            (Some(_), Some(target)) if from_rank == to_rank => {
                let (place, _) = self.stage(target, m, field.dtype)?;
                Ok(Slot { place: Some(place), packs: true, unpacks: true })
            }
            (Some(source), _) if self.teams.0.is_here(m.from_part) => {
                let leaving =
                    |traffic: &mut Self, span| traffic.leaving.entry((to_rank, path)).or_default().push(span);
                // What others open is memory for messages, which is kept; an array's may be freed.
                let ready = contiguous(&extents(m), &End::source(m, source));
                if let Some(first) = ready.filter(|_| path != Path::Shared) {
                    leaving(self, span(source, first, m, field.dtype));
                    return Ok(nothing);
                }
                let (place, span) = self.stage(source, m, field.dtype)?;
                leaving(self, span);
                Ok(Slot { place: Some(place), packs: true, unpacks: false })
            }
            (_, Some(target)) if self.teams.1.is_here(m.to_part) => {
                let coming = |traffic: &mut Self, span| {
                    traffic.coming.entry((from_rank, path)).or_default().push(span)
                };
                let landing = contiguous(&extents(m), &End::target(m, target));
                if let (Some(first), MoveOp::Copy) = (landing, m.op) {
                    coming(self, span(target, first, m, field.dtype));
                    return Ok(nothing);
                }
                let (place, span) = self.stage(target, m, field.dtype)?;
                coming(self, span);
                Ok(Slot { place: Some(place), packs: false, unpacks: true })
            }
            _ => Ok(nothing),
        }
    }

    /// Contiguous memory for the cells of a move, near one of its ends.
    fn stage(&mut self, near: &Place, m: &Move, dtype: DType) -> Result<(Place, Span)> {
        let buffer = near.device.alloc(m.elements() * dtype.size_bytes() as u64)?;
        let (device, allocation) = (near.device.clone(), Arc::clone(buffer.allocation()));
        self.leases.push(buffer);
        let place = Place { device, allocation, stored: counted(m)? };
        let span = span(&place, 0, m, dtype);
        Ok((place, span))
    }
}

fn span(place: &Place, first: i64, m: &Move, dtype: DType) -> Span {
    let size = dtype.size_bytes() as u64;
    Span {
        device: place.device.clone(),
        allocation: Arc::clone(&place.allocation),
        offset: first as u64 * size,
        bytes: m.elements() * size,
    }
}

/// The cells of a move by their numbers along each dimension.
fn counted(m: &Move) -> Result<Region> {
    let counts = m.counts();
    Ok(Region::new(&Index::zeros(counts.rank()), &counts)?)
}

/// Copies between the parts of a field and the slots of its moves, as a plan of its own.
struct Half {
    plan: Plan,
    from: Vec<Option<Place>>,
    to: Vec<Option<Place>>,
}

impl Half {
    fn packing(field: &Field, moves: &[&Move], slots: &[Slot]) -> Result<Half> {
        let packed = moves.iter().zip(slots).enumerate().filter(|(_, (_, slot))| slot.packs);
        let packed = packed.map(|(k, (m, _))| {
            let subsets = m
                .subsets
                .as_ref()
                .map(|subsets| subsets.iter().map(|subset| packed_subset(subset, true)).collect());
            let (from, to) = (m.from, counted(m)?);
            Ok(Move { from_part: m.from_part, to_part: k, from, to, subsets, op: MoveOp::Copy })
        });
        let plan = Plan::new(field.plan.from_parts(), moves.len(), packed.collect::<Result<_>>()?)?;
        Ok(Half { plan, from: field.from.to_vec(), to: places(slots) })
    }

    fn unpacking(field: &Field, moves: &[&Move], slots: &[Slot]) -> Result<Half> {
        let unpacked = moves.iter().zip(slots).enumerate().filter(|(_, (_, slot))| slot.unpacks);
        let unpacked = unpacked.map(|(k, (m, _))| {
            let subsets = m
                .subsets
                .as_ref()
                .map(|subsets| subsets.iter().map(|subset| packed_subset(subset, false)).collect());
            let (from, to) = (counted(m)?, m.to);
            Ok(Move { from_part: k, to_part: m.to_part, from, to, subsets, op: m.op })
        });
        let plan = Plan::new(moves.len(), field.plan.to_parts(), unpacked.collect::<Result<_>>()?)?;
        Ok(Half { plan, from: places(slots), to: field.to.to_vec() })
    }
}

fn places(slots: &[Slot]) -> Vec<Option<Place>> {
    slots.iter().map(|slot| slot.place.clone()).collect()
}

/// A subset whose target, or else whose source, has the cells one after the other.
fn packed_subset(subset: &AxisSubset, target: bool) -> AxisSubset {
    match subset {
        AxisSubset::Runs { run, count, from_step, to_step } => {
            let (from_step, to_step) = if target { (*from_step, *run) } else { (*run, *to_step) };
            AxisSubset::Runs { run: *run, count: *count, from_step, to_step }
        }
        AxisSubset::List(pairs) => {
            let packed: Vec<i64> = (0..subset.len()).collect();
            AxisSubset::List(Arc::new(match target {
                true => Pairs { from: pairs.from.clone(), to: packed },
                false => Pairs { from: packed, to: pairs.to.clone() },
            }))
        }
    }
}
