//! Launches that run machine code instead of the interpreter's steps: a program per shape of launch, in
//! memory that is written first and executed then, never both at once; and the rows of a tile, a plane of
//! them in one call. What the code computes, and its table, are [`crate::x86`]'s.

use std::sync::{Arc, PoisonError, RwLock};

use memmap2::{Mmap, MmapMut};

use super::layout::{Dims, Tile, advance};
use super::level::Level;
use super::run::Run;
use crate::footprint::Footprint;
use crate::ir::{Access, Kernel, Op};
use crate::verify::Verified;
use crate::x86::{Lying, Pair, Pointer, Prepared, Shape, UnrollAndJam, Written, words};

/// The codes of one kernel.
pub(super) struct Machine {
    prepared: Prepared,
    /// All that is stored is just what was loaded.
    moves: bool,
    codes: RwLock<Vec<(Shape, Option<Arc<Codes>>)>>,
}

/// The codes of one shape of launch.
struct Codes {
    full: Code,
    /// Returns early where an angle is not small.
    small: Option<Code>,
    /// For rows that are computed together, by how they lie.
    jammed: RwLock<Vec<(UnrollAndJam, Jammed)>>,
}

/// What there is for rows that lie so.
#[derive(Clone)]
enum Jammed {
    /// One small launch, which alone is not worth code of its own.
    Seen,
    /// Code, if they gain from it.
    Written(Option<Arc<Code>>),
}

/// So many ways of lying have code of their own.
const MAX_JAMMED: usize = 16;
/// Points of a launch that is worth code of its own.
const WORTH_CODE: usize = 1 << 15;

/// Code that can be called.
struct Code {
    written: Written,
    map: Mmap,
}

impl Code {
    /// `None` if the system gives no memory to execute.
    fn new(written: Written) -> Option<Code> {
        let mut map = MmapMut::map_anon(written.bytes.len()).ok()?;
        map.copy_from_slice(&written.bytes);
        Some(Code { written, map: map.make_exec().ok()? })
    }

    /// Computes the rows of a table; how many lanes of the last one, or the first that it leaves, are done.
    ///
    /// # Safety
    /// The table and the pool are of this code for a checked launch, on a CPU that has its ISA level.
    unsafe fn call(&self, table: &mut [u64], pool: &Option<Vec<u64>>) -> usize {
        let pool = pool.as_deref().unwrap_or(self.written.constants());
        #[cfg(target_arch = "x86_64")]
        {
            type Rows = unsafe extern "sysv64" fn(table: *mut u64, pool: *const u64) -> usize;
            // SAFETY: the map holds one whole function of this type, which `x86` wrote; the caller promises
            // what it reads and writes.
            unsafe {
                let rows = std::mem::transmute::<*const u8, Rows>(self.map.as_ptr());
                rows(table.as_mut_ptr(), pool.as_ptr())
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (table, pool, &self.map);
            unreachable!("code is written for x86-64 only");
        }
    }
}

impl Machine {
    /// For kernels and CPUs that may have code.
    pub(super) fn new(kernel: &Verified, level: Level) -> Option<Machine> {
        let prepared = Prepared::new(kernel, level.code()?)?;
        Some(Machine { moves: prepared.only_moves(), prepared, codes: RwLock::default() })
    }

    fn codes_for(&self, shape: &Shape) -> Option<Arc<Codes>> {
        let find = |codes: &[(Shape, Option<Arc<Codes>>)]| {
            codes.iter().find(|(known, _)| known == shape).map(|(_, codes)| codes.clone())
        };
        let known = find(&self.codes.read().unwrap_or_else(PoisonError::into_inner));
        known.unwrap_or_else(|| {
            let new = self.prepared.write(shape).and_then(|Pair { full, small }| {
                let jammed = RwLock::default();
                Some(Arc::new(Codes { full: Code::new(full)?, small: small.and_then(Code::new), jammed }))
            });
            let mut codes = self.codes.write().unwrap_or_else(PoisonError::into_inner);
            codes.push((shape.clone(), new.clone()));
            new
        })
    }

    /// How many codes there are so far, for shapes of launches and for rows that are computed together.
    pub(super) fn codes(&self) -> usize {
        let codes = self.codes.read().unwrap_or_else(PoisonError::into_inner);
        let jammed = |codes: &Codes| {
            let jammed = codes.jammed.read().unwrap_or_else(PoisonError::into_inner);
            jammed.iter().filter(|(_, jammed)| matches!(jammed, Jammed::Written(Some(_)))).count()
        };
        codes.iter().filter_map(|(_, codes)| codes.as_deref()).map(|codes| 1 + jammed(codes)).sum()
    }

    /// A launch by code, if it can be.
    pub(super) fn rows<'r>(&self, run: &'r Run<'r>) -> Option<Rows<'r>> {
        let kernel = self.prepared.kernel();
        // What only moves is bound by memory.
        if self.moves {
            return None;
        }
        let shape = shape(kernel, self.prepared.footprint(), run)?;
        let codes = self.codes_for(&shape)?;
        let full = Tables::new(run, &codes.full.written);
        let small = codes.small.as_ref().map(|small| Tables::new(run, &small.written));
        let jam = jam(&self.prepared, run, codes.full.written.lanes);
        let jammed = jam.and_then(|jam| self.jammed_for(&codes, &shape, jam, run.layout.points()));
        let jammed = jammed.map(|code| (Tables::new(run, &code.written), code));
        Some(Rows { run, full, small, jammed, codes })
    }

    /// The code for rows that lie so, if they gain from being computed together, and it from this launch or
    /// from further ones.
    fn jammed_for(
        &self,
        codes: &Codes,
        shape: &Shape,
        jam: UnrollAndJam,
        points: usize,
    ) -> Option<Arc<Code>> {
        let find = |jammed: &[(UnrollAndJam, Jammed)]| {
            jammed.iter().find(|(known, _)| *known == jam).map(|(_, jammed)| jammed.clone())
        };
        let known = find(&codes.jammed.read().unwrap_or_else(PoisonError::into_inner));
        if let Some(Jammed::Written(code)) = known {
            return code;
        }
        let mut jammed = codes.jammed.write().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() && jammed.len() == MAX_JAMMED {
            return None;
        }
        jammed.retain(|(other, _)| *other != jam);
        if known.is_none() && points < WORTH_CODE {
            jammed.push((jam, Jammed::Seen));
            return None;
        }
        let new = self.prepared.jam(shape, &jam).and_then(Code::new).map(Arc::new);
        jammed.push((jam, Jammed::Written(new.clone())));
        new
    }
}

/// How the rows of a launch lie, if those of one dimension along which they read the same lie below each
/// other.
fn jam(prepared: &Prepared, run: &Run<'_>, lanes: usize) -> Option<UnrollAndJam> {
    let down = run.layout.inner().checked_sub(1)?;
    let steps = |dim: &usize| {
        let mut strides = run.launch.views.iter().zip(&run.layout.strides);
        run.layout.dim_of[*dim] == Some(down) && strides.all(|(view, of)| view.strides[*dim] == of[down])
    };
    let dim = prepared.alike().iter().copied().find(steps)?;
    let strides = run.launch.views.iter().map(|view| view.strides.clone()).collect();
    Some(UnrollAndJam { dim, strides, streams: run.stream && lines(run, lanes, true) })
}

/// What code of this launch depends on; `None` where rows do not lie as lanes do.
fn shape(kernel: &Kernel, footprint: &Footprint, run: &Run<'_>) -> Option<Shape> {
    let inner = run.layout.inner();
    let one = run.layout.extents[inner] == 1;
    let mut lying = Vec::with_capacity(run.params.len());
    for (param, known) in run.params.iter().zip(&kernel.params) {
        let bytes = param.element_bytes as isize;
        lying.push(match param.inner_bytes {
            0 if known.access == Access::In => Lying::Splat,
            _ if one => Lying::Row,
            step if step == bytes => Lying::Row,
            _ => return None,
        });
    }
    let views = || run.launch.views.iter().zip(&lying).filter(|(_, lying)| **lying != Lying::Splat);
    let is_unit = |dim: &usize| {
        run.layout.dim_of[*dim] == Some(inner) && views().all(|(view, _)| view.strides[*dim] == 1)
    };
    let unit = (0..kernel.rank).find(is_unit).filter(|_| !footprint.is_pointwise());
    let mut along = Vec::new();
    for inst in &kernel.body {
        if let Op::Coord(dim) = inst.op
            && run.layout.dim_of[dim as usize] == Some(inner)
            && !along.contains(&(dim as usize))
        {
            along.push(dim as usize);
        }
    }
    Some(Shape { unit, along, lying })
}

/// A pointer of the table, as it moves through a launch.
struct Moving {
    param: usize,
    /// Bytes from the parameter's element at the point.
    away: isize,
    /// Bytes to the row below.
    down: isize,
}

/// A coordinate of the table: that of the launch's first point, and the layout's dimension it grows along.
struct Growing {
    origin: i64,
    dim: Option<usize>,
}

/// What a launch writes into the tables of one code.
struct Tables {
    /// None is needed without arguments.
    pool: Option<Vec<u64>>,
    pointers: Vec<Moving>,
    coordinates: Vec<Growing>,
    /// All rows of all outputs begin a cache line at the same lane.
    lines: bool,
    /// Rows that are computed together.
    rows: usize,
}

/// Lanes of a row that gains from blocks that begin with a cache line, before which there is one under a
/// mask.
const LONG_ROW: usize = 128;

impl Tables {
    fn new(run: &Run<'_>, written: &Written) -> Tables {
        let down = run.layout.inner().checked_sub(1);
        let pointer = |pointer: &Pointer| {
            let param = &run.params[pointer.param];
            let strides = &run.launch.views[pointer.param].strides;
            let away: i64 = strides.iter().zip(&pointer.offsets).map(|(&s, &d)| s * i64::from(d)).sum();
            Moving {
                param: pointer.param,
                away: away as isize * param.element_bytes as isize,
                down: down.map_or(0, |down| param.strides_bytes[down]),
            }
        };
        let coordinate =
            |&dim: &usize| Growing { origin: run.launch.origin[dim], dim: run.layout.dim_of[dim] };
        Tables {
            pool: (!run.launch.arguments.is_empty()).then(|| written.pool(run.launch)),
            pointers: written.pointers.iter().map(pointer).collect(),
            coordinates: written.coordinates.iter().map(coordinate).collect(),
            lines: lines(run, written.lanes, written.rows > 1),
            rows: written.rows,
        }
    }

    /// The table of `lanes` lanes of rows from `index` on, of which there are `groups` groups.
    fn fill(&self, run: &Run<'_>, table: &mut Vec<u64>, index: &Dims<usize>, lanes: usize, groups: usize) {
        let inner = run.layout.inner();
        let stream = run.stream && self.lines;
        table.clear();
        table.reserve(words::POINTERS + 2 * (self.pointers.len() + self.coordinates.len()));
        table.resize(words::POINTERS, 0);
        table[words::LANES] = lanes as u64;
        table[words::ROWS] = groups as u64;
        table[words::LINES] = u64::from(stream || self.lines && lanes >= LONG_ROW);
        table[words::STREAM] = u64::from(stream);
        table.extend(self.pointers.iter().map(|pointer| {
            run.address(pointer.param, index, inner, index[inner]).wrapping_offset(pointer.away) as u64
        }));
        table.extend(self.pointers.iter().map(|pointer| (pointer.down * self.rows as isize) as u64));
        table.extend(self.coordinates.iter().map(|coordinate| {
            let grown = coordinate.dim.map_or(0, |dim| index[dim]) as i64;
            coordinate.origin.wrapping_add(grown) as u64
        }));
        let down = inner.checked_sub(1);
        table.extend(self.coordinates.iter().map(|coordinate| {
            if coordinate.dim.is_some() && coordinate.dim == down { self.rows as u64 } else { 0 }
        }));
    }
}

/// Does every row of all outputs begin a cache line at one lane, which code finds by the first output's row?
/// Rows that are computed `together` must share it, too. Bools do not count; no line is written whole where
/// elements lie apart.
fn lines(run: &Run<'_>, lanes: usize, together: bool) -> bool {
    let inner = run.layout.inner();
    let mut common = None;
    let mut agrees = |param: usize| {
        let bytes = run.params[param].element_bytes;
        let block = (lanes * bytes) as isize;
        let steps = run.params[param].strides_bytes;
        let first = run.address(param, &[0; _], inner, 0) as isize;
        let apart = steps.map(|step| step.rem_euclid(block) / bytes as isize);
        let this = (first.rem_euclid(block) / bytes as isize, apart);
        let alike = !together || inner > 0 && apart[inner - 1] == 0;
        let dense = run.params[param].inner_bytes == bytes as isize;
        alike && dense && first % bytes as isize == 0 && *common.get_or_insert(this) == this
    };
    let mut wide = run.code.stores.iter().map(|store| store.param);
    wide.all(|param| run.params[param].element_bytes < 4 || agrees(param)) && common.is_some()
}

/// A launch by code.
pub(super) struct Rows<'r> {
    run: &'r Run<'r>,
    codes: Arc<Codes>,
    full: Tables,
    small: Option<Tables>,
    jammed: Option<(Tables, Arc<Code>)>,
}

/// Lanes that are computed for angles of any size before small ones are expected again.
const LARGE_ANGLES: usize = 1024;

impl Rows<'_> {
    /// Computes the rows of a tile.
    ///
    /// # Safety
    /// The launch was checked against the memory, the tile lies in its region, and nobody else writes there.
    pub(super) unsafe fn tile(&self, tile: &Tile, table: &mut Vec<u64>) {
        let inner = self.run.layout.inner();
        let outer = inner.saturating_sub(1);
        let rows = if inner > 0 { tile.extents[outer] } else { 1 };
        let lanes = tile.extents[inner];
        let mut index = tile.start;
        loop {
            // SAFETY: the caller's promise, for these rows.
            unsafe { self.plane(index, lanes, rows, table) };
            if !advance(&mut index, tile, outer) {
                break;
            }
        }
    }

    /// Computes rows that lie below each other.
    ///
    /// # Safety
    /// As [`Rows::tile`].
    unsafe fn plane(&self, mut index: Dims<usize>, lanes: usize, mut rows: usize, table: &mut Vec<u64>) {
        let outer = self.run.layout.inner().saturating_sub(1);
        if let Some((tables, code)) = &self.jammed {
            let groups = rows / tables.rows;
            if groups > 0 {
                tables.fill(self.run, table, &index, lanes, groups);
                // SAFETY: the caller's promise: the pointers are those of rows of the region.
                unsafe { code.call(table, &tables.pool) };
                (index[outer], rows) = (index[outer] + groups * tables.rows, rows - groups * tables.rows);
            }
        }
        let (code, tables) = match (&self.codes.small, &self.small) {
            (Some(code), Some(tables)) => (code, tables),
            _ => (&self.codes.full, &self.full),
        };
        while rows > 0 {
            tables.fill(self.run, table, &index, lanes, rows);
            // SAFETY: as above.
            let done = unsafe { code.call(table, &tables.pool) };
            let left = table[words::ROWS] as usize;
            index[outer] += rows - left;
            rows = left;
            if left > 0 {
                // SAFETY: the caller's promise, for the rest of this row.
                unsafe { self.rest(index, done, lanes) };
                (index[outer], rows) = (index[outer] + 1, left - 1);
            }
        }
    }

    /// The rest of a row of `lanes` lanes, of which `done` are done and the next angle is not small.
    ///
    /// # Safety
    /// As [`Rows::tile`].
    #[cold]
    unsafe fn rest(&self, mut index: Dims<usize>, done: usize, lanes: usize) {
        let inner = self.run.layout.inner();
        let mut lanes = lanes - done;
        index[inner] += done;
        let mut table = Vec::new();
        while lanes > 0 {
            let some = lanes.min(LARGE_ANGLES);
            self.full.fill(self.run, &mut table, &index, some, 1);
            // SAFETY: the caller's promise.
            unsafe { self.codes.full.call(&mut table, &self.full.pool) };
            (index[inner], lanes) = (index[inner] + some, lanes - some);
            if let (Some(code), Some(tables), 1..) = (&self.codes.small, &self.small, lanes) {
                tables.fill(self.run, &mut table, &index, lanes, 1);
                // SAFETY: the caller's promise.
                let done = unsafe { code.call(&mut table, &tables.pool) };
                (index[inner], lanes) = (index[inner] + done, lanes - done);
            }
        }
    }
}
