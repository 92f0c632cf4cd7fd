//! [`StreamingPlan`]: the dimension along which a kernel streams, and what a thread keeps of each parameter.
//! From the footprint alone, like [`super::schedule`].
//!
//! A thread has a *column*: the vectors at its point in the planes around the present one. Planes of a
//! parameter whose neighbours are read wait in shared memory, with a rim, from when they are requested until
//! the threads beside have read them. So a block loads each vector once, but for its rim, and planes on
//! their way take no registers.
//!
//! Invariant: a load takes elements that the kernel reads, and no others, whatever the region. Kernels whose
//! offsets leave gaps, or lie differently from row to row, have no plan.

use std::collections::BTreeSet;

use super::limits::{MAX_INSTRUCTIONS, MAX_SHARED_BYTES, shared_bytes_at_launch};
use super::text::PtxTarget;
use crate::dtype::DType;
use crate::ir::{Access, BinaryOp, Form, Kernel, Op, Value};
use crate::verify::{Footprint, Verified};

/// Vectors of a warp, side by side along x.
pub(crate) const WIDTH: usize = 32;

/// Warps of a block: rows side by side, or stretches of one row where no neighbours across are read.
pub(crate) const HEIGHT: usize = 8;

/// Registers of 32 bits that columns and the values of a body may fill: addresses need some, and a
/// multiprocessor should hold two blocks at least.
const MAX_KEPT: usize = 128;

/// Instructions of the planes that the loop is unrolled by: some 16 KiB of code.
const MAX_UNROLLED: usize = 1200;

/// Planes on their way, if shared memory and the loop have room for them.
const AHEAD: usize = 4;

/// Instructions of a plane beside those of the body.
const OVERHEAD: usize = 50;

/// Shared memory of a multiprocessor that blocks side by side may have.
const SHARED_OF_ALL: usize = 225 << 10;

/// A range of offsets, both ends included.
pub(crate) type Reach = (i32, i32);

/// The plan of the `streaming` entry of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StreamingPlan {
    /// Points of a thread in a plane.
    pub lanes: usize,
    /// The dimension of the kernel that each slot of the grid counts: the walk first; y, if neighbours
    /// across are read, before x, which is last.
    pub slots: Vec<usize>,
    /// Rows of a block are neighbours.
    pub across: bool,
    /// Planes that are on their way while one is computed.
    pub ahead: usize,
    /// Planes of which the loop has a copy each, and shared memory room.
    pub unroll: usize,
    /// Blocks that must fit side by side; with one, the assembler may use all registers.
    pub blocks: u32,
    /// One per loaded parameter.
    pub columns: Vec<Column>,
}

/// The values of one parameter that a thread keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    pub param: u32,
    /// Elements in a register.
    pub per_unit: usize,
    /// Registers of a vector.
    pub units: usize,
    /// Planes of its own row that are read.
    pub planes: Reach,
    /// Its own vectors come through a place of their own in shared memory, not that which others read. Those
    /// are requested a second time when others are about to read them: L2 has them still.
    pub apart: bool,
    /// Neighbours in its own row.
    pub sides: Sides,
    /// Rows beside its own that are read, and in which planes. (0, 0) if none.
    pub rows: Reach,
    pub row_planes: Reach,
    /// Neighbours in each of those.
    pub row_sides: Sides,
}

/// Neighbours in a row: how far they are, and in which planes they are read. (0, 0) if there are none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sides {
    pub columns: Reach,
    pub planes: Reach,
}

/// Planes from the first to the last.
pub(crate) fn depth(planes: Reach) -> usize {
    (planes.1 - planes.0 + 1) as usize
}

/// The range of some offsets if it has no gaps; `with` is filled already.
fn whole(offsets: impl Iterator<Item = i32>, with: Option<i32>) -> Option<Reach> {
    let offsets: BTreeSet<i32> = offsets.chain(with).collect();
    let reach = (*offsets.first()?, *offsets.last()?);
    (depth(reach) == offsets.len()).then_some(reach)
}

fn within(inner: Reach, outer: Reach) -> bool {
    inner.0 >= outer.0 && inner.1 <= outer.1
}

/// The site of a load, seen from the point: plane, row, column.
type Site = [i32; 3];

impl Column {
    fn of(param: u32, (size, lanes): (usize, usize), sites: &[Site], apart: bool) -> Option<Column> {
        let rows = whole(sites.iter().map(|s| s[1]), Some(0))?;
        let own = || sites.iter().filter(|s| s[1] == 0);
        let planes = whole(own().map(|s| s[0]), None)?;
        let sides = Sides::of(&own().copied().collect::<Vec<_>>())?;
        let (mut row_planes, mut row_sides) = ((0, -1), Sides::NONE);
        for (n, row) in (rows.0..=rows.1).filter(|&row| row != 0).enumerate() {
            let beside: Vec<Site> = sites.iter().filter(|s| s[1] == row).copied().collect();
            let found = (whole(beside.iter().map(|s| s[0]), None)?, Sides::of(&beside)?);
            if n > 0 && found != (row_planes, row_sides) {
                return None;
            }
            (row_planes, row_sides) = found;
        }
        let exchanged = rows != (0, 0);
        let narrow = size == 1 && (exchanged || sides != Sides::NONE);
        let alike = row_sides == Sides::NONE || row_sides.columns == sides.columns;
        let held = !exchanged || within(row_planes, planes) && alike && row_sides.within(&sides);
        let lies_in = |side: &Sides, planes: Reach| *side == Sides::NONE || within(side.planes, planes);
        if narrow || !held || !lies_in(&sides, planes) || !lies_in(&row_sides, row_planes) {
            return None;
        }
        if depth(rows) - 1 > HEIGHT
            || !sides.is_even()
            || !row_sides.is_even()
            || sides.lanes(lanes) > WIDTH / 4
        {
            return None;
        }
        let per_unit = (4 / size).clamp(1, lanes);
        let units = lanes / per_unit;
        // Copies into shared memory move 4 bytes at least.
        let is_wide = size * lanes >= 4;
        let apart = apart && is_wide;
        let column = Column { param, per_unit, units, planes, apart, sides, rows, row_planes, row_sides };
        (!column.is_tile() || is_wide).then_some(column)
    }

    /// Others read its planes in shared memory.
    pub(crate) fn is_tile(&self) -> bool {
        self.rows != (0, 0) || self.sides != Sides::NONE
    }

    /// Its planes go through shared memory.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_tile() || self.apart
    }

    /// Vectors of its own row in registers: those that are read, and without shared memory those on the way.
    pub(crate) fn depth(&self, ahead: usize) -> usize {
        depth(self.planes) + if self.is_shared() { 0 } else { ahead }
    }

    /// The planes that others read in shared memory.
    pub(crate) fn tile_planes(&self) -> Reach {
        let sides = [self.sides, self.row_sides].into_iter().filter(|s| *s != Sides::NONE);
        let rows = (self.rows != (0, 0)).then_some(self.row_planes);
        let all = || sides.clone().map(|s| s.planes).chain(rows);
        let newest = if self.apart { all().map(|p| p.1).max() } else { None };
        (all().map(|p| p.0).min().unwrap_or(self.planes.0), newest.unwrap_or(self.planes.1))
    }

    /// Planes in shared memory that are there: from the newest to the oldest that another thread reads.
    fn present(&self) -> usize {
        let sides = [self.sides, self.row_sides].into_iter().filter(|s| *s != Sides::NONE);
        let rows = (self.rows != (0, 0)).then_some(self.row_planes.1);
        let newest = self.tile_planes().1;
        let oldest = sides.map(|s| s.planes.1).chain(rows).min().unwrap_or(newest);
        (newest - oldest) as usize + 1
    }

    /// The rows that come from other threads.
    pub(crate) fn beside(&self) -> impl Iterator<Item = i32> + use<> {
        (self.rows.0..=self.rows.1).filter(|&row| row != 0)
    }

    /// Its own row and those beside it, and the neighbours in each.
    pub(crate) fn sides_of(&self, row: i32) -> Sides {
        if row == 0 { self.sides } else { self.row_sides }
    }

    /// Registers of 32 bits.
    fn words(&self, size: usize, lanes: usize, ahead: usize, is_scaled: bool) -> usize {
        let vector = (size * lanes).div_ceil(4);
        let beside = depth(self.rows) - 1;
        let of_planes = |s: Sides| depth(s.planes) + usize::from(is_scaled);
        let sides = |s: Sides, rows: usize| rows * s.elements() * size.div_ceil(4) * of_planes(s);
        // Neighbours in several planes, each multiplied: ptxas computes these terms of all points at once.
        let terms = |s: Sides, rows: usize| match is_scaled {
            true => rows * s.elements() * depth(s.planes).saturating_sub(1) * lanes,
            false => 0,
        };
        // Rows that one plane alone needs, and as they are, are loaded where they are used.
        let held = if is_scaled || depth(self.row_planes) > 1 {
            beside * depth(self.row_planes)
        } else {
            beside.min(1)
        };
        // The addresses of the edges of a warp.
        let edges = 2 * (self.sides.lanes(lanes) + self.row_sides.lanes(lanes));
        vector * (self.depth(ahead) + held)
            + edges
            + sides(self.sides, 1)
            + sides(self.row_sides, beside)
            + terms(self.sides, 1)
            + terms(self.row_sides, beside)
    }

    /// Bytes of one plane of a block in shared memory: with the rows and vectors around it, and the place of
    /// own vectors after it.
    pub(crate) fn plane_bytes(&self, size: usize, lanes: usize) -> usize {
        let own = HEIGHT * WIDTH * lanes * size * usize::from(self.apart);
        self.tile_bytes(size, lanes) + own
    }

    /// Rows of a plane that a block reads.
    pub(crate) fn rows_of_a_block(&self) -> usize {
        HEIGHT + depth(self.rows) - 1
    }

    pub(crate) fn tile_bytes(&self, size: usize, lanes: usize) -> usize {
        let rows = self.rows_of_a_block() * usize::from(self.is_tile());
        rows * self.row_bytes(size, lanes)
    }

    /// Bytes of a row of it.
    pub(crate) fn row_bytes(&self, size: usize, lanes: usize) -> usize {
        (WIDTH + 2 * self.farthest(lanes)) * lanes * size
    }

    /// The farthest lane that any row reads.
    pub(crate) fn farthest(&self, lanes: usize) -> usize {
        self.sides.lanes(lanes).max(self.row_sides.lanes(lanes))
    }
}

impl Sides {
    pub(crate) const NONE: Sides = Sides { columns: (0, 0), planes: (0, -1) };

    /// Of the loads of one row: every column is read in the same planes.
    fn of(row: &[Site]) -> Option<Sides> {
        let columns = whole(row.iter().map(|s| s[2]), Some(0))?;
        let planes = |column: i32| whole(row.iter().filter(|s| s[2] == column).map(|s| s[0]), None);
        let mut of_all = (columns.0..=columns.1).filter(|&column| column != 0).map(planes);
        let Some(first) = of_all.next() else { return Some(Sides::NONE) };
        of_all.all(|other| other == first).then_some(())?;
        Some(Sides { columns, planes: first? })
    }

    fn within(&self, outer: &Sides) -> bool {
        *self == Sides::NONE || within(self.columns, outer.columns) && within(self.planes, outer.planes)
    }

    /// Neighbours on both sides.
    fn elements(&self) -> usize {
        depth(self.columns) - 1
    }

    /// Positions beside a vector that are read, counted from its first element.
    pub(crate) fn positions(&self, lanes: usize) -> impl Iterator<Item = i32> + use<> {
        let (first, last, lanes) = (self.columns.0, self.columns.1, lanes as i32);
        (first..0).chain(lanes..lanes + last)
    }

    /// Neighbours on a side that are in the vector so many vectors away.
    pub(crate) fn count(&self, distance: usize, lanes: usize) -> usize {
        let farthest = (-self.columns.0).max(self.columns.1) as usize;
        (farthest - (distance - 1) * lanes).min(lanes)
    }

    /// As many neighbours on both sides, or none on one.
    fn is_even(&self) -> bool {
        self.columns.0 == -self.columns.1 || self.columns.0 == 0 || self.columns.1 == 0
    }

    /// The farthest lane that is read.
    pub(crate) fn lanes(&self, lanes: usize) -> usize {
        (-self.columns.0).max(self.columns.1).unsigned_abs().div_ceil(lanes as u32) as usize
    }
}

impl StreamingPlan {
    /// A plan for vectors of at most `widest` points; none if no plane would find anything in registers.
    pub(crate) fn of(verified: &Verified, widest: usize, target: &PtxTarget) -> Option<StreamingPlan> {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let Form::Elementwise { .. } = &kernel.form else { return None };
        let x = kernel.rank.checked_sub(1)?;
        let read: Vec<usize> = (0..x).filter(|&dim| footprint.reads_along(dim)).collect();
        let walks: &[[Option<usize>; 2]] = match *read.as_slice() {
            [along] => &[[Some(along), None]],
            [outer, inner] => &[[Some(outer), Some(inner)], [Some(inner), Some(outer)]],
            _ => return None,
        };
        let narrower = || (0..).map(|n| widest >> n).take_while(|&lanes| lanes > 0);
        let apart = [false, true];
        let shapes = || narrower().flat_map(|lanes| apart.map(|apart| (lanes, apart)));
        // A single plane on its way leaves most of a round trip to memory to wait for.
        let least = [2, 1].into_iter().flat_map(|least| shapes().map(move |shape| (shape, least)));
        walks.iter().find_map(|walk| {
            let walk = (walk[0]?, walk[1]);
            let room = shared_bytes_at_launch(target);
            least
                .clone()
                .find_map(|(shape, least)| StreamingPlan::along(verified, walk, shape, (least, room)))
        })
    }

    fn along(
        verified: &Verified,
        walk: (usize, Option<usize>),
        (lanes, apart): (usize, bool),
        (least, room): (usize, usize),
    ) -> Option<StreamingPlan> {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let (along, across) = walk;
        let size = |param: u32| footprint.params()[param as usize].size;
        let loaded = (0..kernel.params.len() as u32).filter(|&param| footprint.is_loaded(param));
        let is_read = |param: u32| kernel.params[param as usize].access == Access::In;
        let columns = loaded.map(|p| {
            let sites = sites(footprint, p, walk);
            let is_apart = apart || sites.iter().all(|site| site[1..] == [0, 0]);
            Column::of(p, (size(p), lanes), &sites, is_apart && is_read(p))
        });
        let columns = columns.collect::<Option<Vec<Column>>>()?;
        if columns.iter().any(|c| c.is_shared() && !is_read(c.param)) {
            return None;
        }
        let dtype = |column: &Column| kernel.params[column.param as usize].dtype;
        // The assembler keeps narrow integers one by one.
        let register_bytes = |c: &Column| match dtype(c).is_integer() {
            true => size(c.param).max(4),
            false => size(c.param),
        };
        let widest = columns.iter().map(dtype).max_by_key(|dtype| dtype.size_bytes())?;
        let is_scaled = is_scaled(kernel);
        let (values, per_operation) = match (widest.size_bytes(), widest) {
            (8, _) => (if is_scaled { 21 } else { 13 } + 16 * lanes, 1),
            (2, d) if d.is_integer() => (20 * lanes, 4),
            // Values are widened, each operation is converted and rounded.
            (2, DType::BF16) if is_scaled => (11 * lanes, 4),
            // Two points at once, in the words of the columns.
            (2, _) => (12 + 2 * lanes, 2),
            _ => (16, 1),
        };
        // Numbers of the formula stay in registers.
        let values = values
            + kernel.body.iter().filter(|inst| matches!(inst.op, Op::Const(_) | Op::Argument(_))).count();
        // With more planes in the loop, ptxas computes more such terms than two blocks have registers for.
        let room = if is_scaled { room.min(MAX_SHARED_BYTES) } else { room };
        let computed = (kernel.body.len() - footprint.loads().len()) * lanes * per_operation;
        let walks = columns.iter().any(|c| depth(c.planes) > 1);
        let plane: usize = columns.iter().map(|c| c.plane_bytes(size(c.param), lanes)).sum();
        let present = columns.iter().map(Column::present).max()?;
        let is_star = across.is_some() && columns.iter().all(|c| c.row_sides == Sides::NONE);
        let is_whole = columns.iter().all(|column| (column.sides.columns.1 as usize).is_multiple_of(lanes));
        let blocks = match across.filter(|_| !is_scaled) {
            Some(_) if is_star => blocks_of_a_star(kernel, widest, is_whole),
            Some(_) => BLOCKS_OF_A_CUBE,
            None => 1,
        };
        let room = room.min(SHARED_OF_ALL / blocks);
        let fits = |ahead: &usize| {
            let words: usize =
                columns.iter().map(|c| c.words(register_bytes(c), lanes, *ahead, is_scaled)).sum();
            let planes = present + ahead;
            words + values <= MAX_KEPT
                && plane * planes <= room
                && (*ahead <= 2 || (computed + OVERHEAD) * planes <= MAX_UNROLLED)
        };
        // A star: nothing is computed of the words between two vectors, and half of the registers leave room
        // for twice as many blocks.
        let is_too_wide = is_star && widest.size_bytes() == 2 && lanes > 4;
        if is_too_wide || !walks || computed > MAX_INSTRUCTIONS {
            return None;
        }
        let ahead = (least..=AHEAD).rev().find(fits)?;
        let (unroll, blocks) = (present + ahead, blocks as u32);
        let x = kernel.rank - 1;
        let others = (0..x).filter(|&dim| dim != along && Some(dim) != across);
        let slots = std::iter::once(along).chain(others).chain(across).chain([x]).collect();
        Some(StreamingPlan { lanes, slots, across: across.is_some(), ahead, unroll, blocks, columns })
    }

    pub(crate) fn column(&self, param: u32) -> &Column {
        self.columns.iter().find(|c| c.param == param).expect("every loaded parameter has its column")
    }

    /// Whether anything goes through shared memory.
    pub(crate) fn is_shared(&self) -> bool {
        self.columns.iter().any(Column::is_shared)
    }

    /// Planes of a walk that are loaded and not computed.
    pub(crate) fn fill(&self) -> usize {
        self.columns.iter().map(|c| depth(c.planes) - 1).max().unwrap_or(0)
    }

    /// The farthest lane that any row reads.
    pub(crate) fn farthest(&self) -> usize {
        self.columns.iter().map(|c| c.farthest(self.lanes)).max().unwrap_or(0)
    }

    /// The site of a load, seen from the point.
    pub(crate) fn site(&self, offsets: &[i32]) -> Site {
        let across = if self.across { offsets[self.slots[self.slots.len() - 2]] } else { 0 };
        [offsets[self.slots[0]], across, offsets[offsets.len() - 1]]
    }
}

/// Blocks side by side of a cube, or of anything else that reads neighbours in rows beside its own: with
/// three, `ptxas` spills some registers.
const BLOCKS_OF_A_CUBE: usize = 2;

/// Blocks side by side of a star whose neighbours are added before anything else happens to them: so
/// many that `ptxas` spills no registers. It keeps more values at once where sums have no weights, or where
/// only parts of the neighbouring vectors are read.
fn blocks_of_a_star(kernel: &Kernel, widest: DType, is_whole: bool) -> usize {
    let is_weighted = kernel.body.iter().any(|inst| matches!(inst.op, Op::Binary(BinaryOp::Mul, ..)));
    match widest {
        DType::F16 | DType::BF16 => 4,
        DType::F32 if is_weighted && is_whole => 3,
        DType::F32 | DType::F64 => 2,
        _ => 1,
    }
}

/// Whether values of neighbours are anything but added before something else happens to them.
fn is_scaled(kernel: &Kernel) -> bool {
    let is_neighbour = |value: Value| match &kernel.body[value.index()].op {
        Op::Load { offsets, .. } => offsets.iter().any(|&offset| offset != 0),
        _ => false,
    };
    kernel.body.iter().any(|inst| match &inst.op {
        Op::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => false,
        op => op.operands().any(is_neighbour),
    })
}

/// The sites of the loads of a parameter.
fn sites(footprint: &Footprint, param: u32, (along, across): (usize, Option<usize>)) -> Vec<Site> {
    let own = footprint.loads().iter().filter(|load| load.param == param);
    own.map(|load| {
        let last = load.offsets.len() - 1;
        [load.offsets[along], across.map_or(0, |dim| load.offsets[dim]), load.offsets[last]]
    })
    .collect()
}
