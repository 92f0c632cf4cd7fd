//! Launches that run machine code instead of the interpreter's steps: a program per shape of launch, in
//! memory that is written first and executed then, never both at once; and the rows of a tile, one call
//! each. What the code computes, and its table, are [`crate::x86`]'s.

use std::sync::{Arc, PoisonError, RwLock};

use memmap2::{Mmap, MmapMut};

use super::layout::{Dims, Tile, advance};
use super::level::Level;
use super::run::Run;
use crate::ir::{Access, Inst, Kernel, Op};
use crate::verify::Verified;
use crate::x86::{Pair, Pointer, Prepared, Shape, Written};

/// The codes of one kernel.
pub(super) struct Machine {
    prepared: Prepared,
    codes: RwLock<Vec<(Shape, Option<Arc<Codes>>)>>,
}

/// The codes of one shape of launch.
struct Codes {
    full: Code,
    /// Returns early where an angle is not small.
    small: Option<Code>,
}

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

    /// Computes a row; how many lanes of it are done.
    ///
    /// # Safety
    /// The table and the pool are of this code for a checked launch, on a CPU of [`Level::Code`].
    unsafe fn call(&self, table: &[u64], pool: &[u64]) -> usize {
        #[cfg(target_arch = "x86_64")]
        {
            type Row = unsafe extern "sysv64" fn(table: *const u64, pool: *const u64) -> usize;
            // SAFETY: the map holds one whole function of this type, which `x86` wrote; the caller promises
            // what it reads and writes.
            unsafe {
                let row = std::mem::transmute::<*const u8, Row>(self.map.as_ptr());
                row(table.as_ptr(), pool.as_ptr())
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
        let prepared = level.writes_code().then(|| Prepared::new(kernel))??;
        Some(Machine { prepared, codes: RwLock::default() })
    }

    fn codes_for(&self, shape: &Shape) -> Option<Arc<Codes>> {
        let find = |codes: &[(Shape, Option<Arc<Codes>>)]| {
            codes.iter().find(|(known, _)| known == shape).map(|(_, codes)| codes.clone())
        };
        let known = find(&self.codes.read().unwrap_or_else(PoisonError::into_inner));
        known.unwrap_or_else(|| {
            let new = self.prepared.write(shape).and_then(|Pair { full, small }| {
                Some(Arc::new(Codes { full: Code::new(full)?, small: small.and_then(Code::new) }))
            });
            let mut codes = self.codes.write().unwrap_or_else(PoisonError::into_inner);
            codes.push((shape.clone(), new.clone()));
            new
        })
    }

    /// How many shapes of launches have code so far.
    pub(super) fn codes(&self) -> usize {
        let codes = self.codes.read().unwrap_or_else(PoisonError::into_inner);
        codes.iter().filter(|(_, codes)| codes.is_some()).count()
    }

    /// A launch by code, if it can be.
    pub(super) fn rows<'r>(&self, run: &'r Run<'r>) -> Option<Rows<'r>> {
        let kernel = self.prepared.kernel();
        let codes = self.codes_for(&shape(kernel, run)?)?;
        let full = Tables::new(run, &codes.full.written);
        let small = codes.small.as_ref().map(|small| Tables::new(run, &small.written));
        Some(Rows { run, full, small, codes })
    }
}

/// What code of this launch depends on; `None` where rows do not lie as lanes do.
fn shape(kernel: &Kernel, run: &Run<'_>) -> Option<Shape> {
    let inner = run.layout.inner();
    let one = run.layout.extents[inner] == 1;
    let mut splats = Vec::with_capacity(run.params.len());
    for (param, known) in run.params.iter().zip(&kernel.params) {
        let dense = param.inner_bytes == param.element_bytes as isize;
        let splat = param.inner_bytes == 0 && known.access == Access::In;
        if !dense && !splat && !one {
            return None;
        }
        splats.push(splat);
    }
    let away = |inst: &Inst| matches!(&inst.op, Op::Load { offsets, .. } if offsets.iter().any(|&d| d != 0));
    let views = || run.launch.views.iter().zip(&splats).filter(|(_, splat)| !**splat);
    let is_unit = |dim: &usize| {
        run.layout.dim_of[*dim] == Some(inner) && views().all(|(view, _)| view.strides[*dim] == 1)
    };
    let unit = (0..kernel.rank).find(is_unit).filter(|_| kernel.body.iter().any(away));
    let mut along = Vec::new();
    for inst in &kernel.body {
        if let Op::Coord(dim) = inst.op
            && run.layout.dim_of[dim as usize] == Some(inner)
            && !along.contains(&(dim as usize))
        {
            along.push(dim as usize);
        }
    }
    Some(Shape { unit, along, splats })
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
    pool: Vec<u64>,
    pointers: Vec<Moving>,
    coordinates: Vec<Growing>,
    /// The pointers of what is written past the caches, if anything is, and the bytes of an element.
    outputs: Vec<(usize, usize)>,
    /// Lanes of a block.
    block: usize,
}

/// Words of the table before the pointers.
const LANES: usize = 0;
const HEAD: usize = 1;
const STREAM: usize = 2;
const POINTERS: usize = 3;

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
        let outputs = run.code.stores.iter().filter_map(|store| {
            let bytes = run.params[store.param].element_bytes;
            let is_home = |p: &Pointer| p.param == store.param && p.offsets.iter().all(|&d| d == 0);
            written.pointers.iter().position(is_home).filter(|_| bytes >= 4).map(|n| (n, bytes))
        });
        Tables {
            pool: written.pool(run.launch),
            pointers: written.pointers.iter().map(pointer).collect(),
            coordinates: written.coordinates.iter().map(coordinate).collect(),
            outputs: outputs.collect(),
            block: written.lanes,
        }
    }

    /// The table of `lanes` lanes of the row at `index`, from the innermost component on.
    fn fill(&self, run: &Run<'_>, table: &mut Vec<u64>, index: &Dims<usize>, lanes: usize) {
        let inner = run.layout.inner();
        table.clear();
        table.extend([lanes as u64, 0, 0]);
        table.extend(self.pointers.iter().map(|pointer| {
            run.address(pointer.param, index, inner, index[inner]).wrapping_offset(pointer.away) as u64
        }));
        table.extend(self.coordinates.iter().map(|coordinate| {
            let grown = coordinate.dim.map_or(0, |dim| index[dim]) as i64;
            coordinate.origin.wrapping_add(grown) as u64
        }));
        self.align(run, table);
    }

    /// Moves a table on to the row below, along dimension `down`.
    fn step_down(&self, run: &Run<'_>, table: &mut [u64], down: usize) {
        let words = &mut table[POINTERS..];
        for (word, pointer) in words.iter_mut().zip(&self.pointers) {
            *word = word.wrapping_add(pointer.down as u64);
        }
        for (word, coordinate) in words[self.pointers.len()..].iter_mut().zip(&self.coordinates) {
            *word = word.wrapping_add(u64::from(coordinate.dim == Some(down)));
        }
        self.align(run, table);
    }

    /// Says how many lanes lie before a cache line of the outputs, if they go past the caches: all of them
    /// must begin one there.
    fn align(&self, run: &Run<'_>, table: &mut [u64]) {
        if !run.stream {
            return;
        }
        let head = |&(n, bytes): &(usize, usize)| {
            let before = (table[POINTERS + n] as usize).wrapping_neg() % (self.block * bytes);
            before.is_multiple_of(bytes).then_some(before / bytes)
        };
        let first = self.outputs.first().and_then(head);
        let first = first.filter(|&first| self.outputs.iter().all(|output| head(output) == Some(first)));
        table[HEAD] = first.unwrap_or(0).min(table[LANES] as usize) as u64;
        table[STREAM] = u64::from(first.is_some());
    }
}

/// A launch by code.
pub(super) struct Rows<'r> {
    run: &'r Run<'r>,
    codes: Arc<Codes>,
    full: Tables,
    small: Option<Tables>,
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
        let (code, tables) = match (&self.codes.small, &self.small) {
            (Some(code), Some(tables)) => (code, tables),
            _ => (&self.codes.full, &self.full),
        };
        let lanes = tile.extents[inner];
        let mut index = tile.start;
        loop {
            tables.fill(self.run, table, &index, lanes);
            for row in 0..rows {
                // SAFETY: the caller's promise: the pointers are those of a row of the region.
                let done = unsafe { code.call(table, &tables.pool) };
                if done < lanes {
                    let mut at = index;
                    at[outer] += row;
                    at[inner] = tile.start[inner] + done;
                    // SAFETY: the caller's promise, for the rest of this row.
                    unsafe { self.rest(at, lanes - done) };
                }
                tables.step_down(self.run, table, outer);
            }
            if !advance(&mut index, tile, outer) {
                break;
            }
        }
        if self.run.stream {
            super::copy::fence();
        }
    }

    /// The rest of a row with angles that are not small.
    ///
    /// # Safety
    /// As [`Rows::tile`].
    #[cold]
    unsafe fn rest(&self, mut index: Dims<usize>, mut lanes: usize) {
        let inner = self.run.layout.inner();
        let mut table = Vec::new();
        while lanes > 0 {
            let some = lanes.min(LARGE_ANGLES);
            self.full.fill(self.run, &mut table, &index, some);
            // SAFETY: the caller's promise.
            unsafe { self.codes.full.call(&table, &self.full.pool) };
            (index[inner], lanes) = (index[inner] + some, lanes - some);
            if let (Some(code), Some(tables), 1..) = (&self.codes.small, &self.small, lanes) {
                tables.fill(self.run, &mut table, &index, lanes);
                // SAFETY: the caller's promise.
                let done = unsafe { code.call(&table, &tables.pool) };
                (index[inner], lanes) = (index[inner] + done, lanes - done);
            }
        }
    }
}
