//! Launches that run machine code instead of the interpreter's steps: a program per shape of launch, in memory
//! that is written first and executed then, never both at once; and the rows of a tile, one call each. What
//! the code computes, and its table, are [`crate::x86`]'s.

use std::sync::{Arc, PoisonError, RwLock};

use memmap2::{Mmap, MmapMut};

use super::layout::{Tile, advance};
use super::level::Level;
use super::run::Run;
use crate::ir::{Access, Kernel, Op};
use crate::verify::Verified;
use crate::x86::{self, Shape, Written};

/// The codes of one kernel.
pub(super) struct Machine {
    kernel: Verified,
    codes: RwLock<Vec<(Shape, Option<Arc<Code>>)>>,
}

/// Code that can be called.
struct Code {
    written: Written,
    map: Mmap,
}

impl Code {
    /// `None` if the kernel has no code, or the system gives no memory to execute.
    fn new(kernel: &Kernel, shape: &Shape) -> Option<Code> {
        let written = x86::write(kernel, shape)?;
        let mut map = MmapMut::map_anon(written.bytes.len()).ok()?;
        map.copy_from_slice(&written.bytes);
        Some(Code { written, map: map.make_exec().ok()? })
    }

    /// Computes a row.
    ///
    /// # Safety
    /// The table is one of this code for a checked launch, on this CPU's level [`Level::Code`].
    unsafe fn call(&self, table: &[u64], pool: &[u64]) {
        #[cfg(target_arch = "x86_64")]
        {
            type Row = unsafe extern "sysv64" fn(table: *const u64, pool: *const u64);
            // SAFETY: the map holds one whole function of this type, which `x86::write` wrote; the caller
            // promises what it reads and writes.
            unsafe {
                let row = std::mem::transmute::<*const u8, Row>(self.map.as_ptr());
                row(table.as_ptr(), pool.as_ptr());
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
        let kernel = level.writes_code().then(|| x86::prepare(kernel))??;
        Some(Machine { kernel, codes: RwLock::default() })
    }

    fn code(&self, shape: &Shape) -> Option<Arc<Code>> {
        let find = |codes: &[(Shape, Option<Arc<Code>>)]| {
            codes.iter().find(|(s, _)| s == shape).map(|(_, code)| code.clone())
        };
        let known = find(&self.codes.read().unwrap_or_else(PoisonError::into_inner));
        known.unwrap_or_else(|| {
            let code = Code::new(self.kernel.kernel(), shape).map(Arc::new);
            let mut codes = self.codes.write().unwrap_or_else(PoisonError::into_inner);
            codes.push((shape.clone(), code.clone()));
            code
        })
    }

    /// How many shapes of launches have code so far.
    pub(super) fn codes(&self) -> usize {
        let codes = self.codes.read().unwrap_or_else(PoisonError::into_inner);
        codes.iter().filter(|(_, code)| code.is_some()).count()
    }

    /// A launch by code, if it can be.
    pub(super) fn rows<'r>(&self, run: &'r Run<'r>) -> Option<Rows<'r>> {
        let kernel = self.kernel.kernel();
        let code = self.code(&shape(kernel, run)?)?;
        let down = run.layout.inner().checked_sub(1);
        let pointer = |pointer: &x86::Pointer| {
            let param = &run.params[pointer.param];
            let strides = &run.launch.views[pointer.param].strides;
            let away: i64 = strides.iter().zip(&pointer.offsets).map(|(&s, &d)| s * i64::from(d)).sum();
            Moving {
                param: pointer.param,
                away: away as isize * param.element_bytes as isize,
                down: down.map_or(0, |down| param.strides_bytes[down]),
            }
        };
        let pointers = code.written.pointers.iter().map(pointer).collect();
        let outputs = run.code.stores.iter().map(|store| {
            let home = x86::Pointer { param: store.param, offsets: vec![0; kernel.rank] };
            let n = code.written.pointers.iter().position(|p| *p == home).expect("stores have pointers");
            (n, run.params[store.param].element_bytes)
        });
        let outputs = outputs.filter(|&(_, bytes)| bytes >= 4).collect();
        Some(Rows { run, pool: code.written.pool(run.launch), pointers, outputs, code })
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
    let at = |inst: &crate::ir::Inst| matches!(&inst.op, Op::Load { offsets, .. } if offsets.iter().any(|&d| d != 0));
    let views = || run.launch.views.iter().zip(&splats).filter(|(_, splat)| !**splat);
    let is_unit = |dim: &usize| {
        run.layout.dim_of[*dim] == Some(inner) && views().all(|(view, _)| view.strides[*dim] == 1)
    };
    let unit = (0..kernel.rank).find(is_unit).filter(|_| kernel.body.iter().any(at));
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

/// A launch by code.
pub(super) struct Rows<'r> {
    run: &'r Run<'r>,
    code: Arc<Code>,
    pool: Vec<u64>,
    pointers: Vec<Moving>,
    /// The pointers of what is written past the caches, if anything is, and the bytes of an element.
    outputs: Vec<(usize, usize)>,
}

/// Words of the table before the pointers.
const LANES: usize = 0;
const HEAD: usize = 1;
const STREAM: usize = 2;
const POINTERS: usize = 3;

impl Rows<'_> {
    /// Computes the rows of a tile.
    ///
    /// # Safety
    /// The launch was checked against the memory, the tile lies in its region, and nobody else writes there.
    pub(super) unsafe fn tile(&self, tile: &Tile, table: &mut Vec<u64>) {
        let layout = &self.run.layout;
        let inner = layout.inner();
        let (outer, rows) = match inner.checked_sub(1) {
            Some(down) => (down, tile.extents[down]),
            None => (0, 1),
        };
        let coordinates = &self.code.written.coordinates;
        table.clear();
        table.resize(POINTERS + self.pointers.len() + coordinates.len(), 0);
        table[LANES] = tile.extents[inner] as u64;
        let mut index = tile.start;
        loop {
            for (word, pointer) in table[POINTERS..].iter_mut().zip(&self.pointers) {
                let first = self.run.address(pointer.param, &index, inner, tile.start[inner]);
                *word = first.wrapping_offset(pointer.away) as u64;
            }
            for row in 0..rows {
                for (word, &dim) in table[POINTERS + self.pointers.len()..].iter_mut().zip(coordinates) {
                    let along = |at: usize| index[at] + if at == outer && at != inner { row } else { 0 };
                    let first = layout.dim_of[dim].map_or(0, along) as i64;
                    *word = self.run.launch.origin[dim].wrapping_add(first) as u64;
                }
                self.align(table);
                // SAFETY: the caller's promise: the pointers are those of a row of the region.
                unsafe { self.code.call(table, &self.pool) };
                for (word, pointer) in table[POINTERS..].iter_mut().zip(&self.pointers) {
                    *word = word.wrapping_add(pointer.down as u64);
                }
            }
            if !advance(&mut index, tile, outer) {
                break;
            }
        }
        if self.run.stream {
            super::copy::fence();
        }
    }

    /// Says how many lanes lie before a cache line of the outputs, if they go past the caches: all of them
    /// must begin one there.
    fn align(&self, table: &mut [u64]) {
        if !self.run.stream {
            return;
        }
        let block = self.code.written.lanes;
        let head = |&(n, bytes): &(usize, usize)| {
            let before = (table[POINTERS + n] as usize).wrapping_neg() % (block * bytes);
            before.is_multiple_of(bytes).then_some(before / bytes)
        };
        let first = self.outputs.first().and_then(head);
        let first = first.filter(|&first| self.outputs.iter().all(|output| head(output) == Some(first)));
        table[HEAD] = first.unwrap_or(0).min(table[LANES] as usize) as u64;
        table[STREAM] = u64::from(first.is_some());
    }
}
