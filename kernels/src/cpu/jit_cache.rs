//! Launches that run machine code: one program per shape of launch, and the calls that compute the rows of a
//! tile. [`crate::cpu::x86`] writes the code and defines its table.
//!
//! Invariant: memory that holds code is writable or executable, never both.

use std::sync::{Arc, PoisonError, RwLock};

use memmap2::{Mmap, MmapMut};

use super::body::run::Run;
use super::launch::{Dims, Tile, advance};
use crate::cpu::loops::lanes::Line;
use crate::cpu::x86::{
    CodeGenerator, CodePair, FoldMemory, IsaLevel, LaunchShape, MachineCode, OperandLayout, RowPointer,
    UnrollAndJam, words,
};
use crate::ir::{Access, FoldOp, Kernel, Launch, Op};
use crate::verify::{Footprint, Verified};

/// The machine code of one kernel.
pub(super) struct JitCache {
    prepared: CodeGenerator,
    codes: CodeCache<LaunchShape, LaunchCodes>,
    /// Rows that are computed together.
    jammed: CodeCache<(LaunchShape, UnrollAndJam), ExecutableCode>,
    /// Of a kernel whose stored values are folded: the operation of each fold, and the number of its store.
    folds: Vec<(FoldOp, usize)>,
    folding: CodeCache<LaunchShape, ExecutableCode>,
}

/// The machine code for one shape of launch.
struct LaunchCodes {
    full: ExecutableCode,
    /// Returns early where an angle is not small.
    small: Option<ExecutableCode>,
}

/// Codes, or none, by what they depend on of a launch.
struct CodeCache<K, C>(RwLock<Vec<(K, Option<Arc<C>>)>>);

/// The most codes of a cache; launches beyond have none.
const MAX_CODES: usize = 32;

impl<K: PartialEq, C> CodeCache<K, C> {
    fn new() -> CodeCache<K, C> {
        CodeCache(RwLock::default())
    }

    /// The code for a key, which is written when it is first needed.
    fn get(&self, key: K, write: impl FnOnce(&K) -> Option<C>) -> Option<Arc<C>> {
        fn find<K: PartialEq, C>(codes: &[(K, Option<Arc<C>>)], key: &K) -> Option<Option<Arc<C>>> {
            codes.iter().find(|(known, _)| known == key).map(|(_, code)| code.clone())
        }
        if let Some(known) = find(&self.0.read().unwrap_or_else(PoisonError::into_inner), &key) {
            return known;
        }
        let mut codes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = find(&codes, &key) {
            return known;
        }
        if codes.len() == MAX_CODES {
            return None;
        }
        let new = write(&key).map(Arc::new);
        codes.push((key, new.clone()));
        new
    }

    /// The sum of what a function gives for each code.
    fn sum(&self, of: impl Fn(&C) -> usize) -> usize {
        let codes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        codes.iter().filter_map(|(_, code)| code.as_deref()).map(of).sum()
    }
}

/// Code in executable memory.
struct ExecutableCode {
    written: MachineCode,
    map: Mmap,
}

impl ExecutableCode {
    /// `None` if the system gives no memory to execute.
    fn new(written: MachineCode) -> Option<ExecutableCode> {
        let mut map = MmapMut::map_anon(written.bytes.len()).ok()?;
        map.copy_from_slice(&written.bytes);
        Some(ExecutableCode { written, map: map.make_exec().ok()? })
    }

    /// About how many bytes it takes: whole pages, and what they were made from.
    fn bytes(&self) -> usize {
        let MachineCode { bytes, .. } = &self.written;
        self.map.len().next_multiple_of(4096) + bytes.len() + size_of_val(self.written.constants())
    }

    /// Computes the rows of a table; how many lanes of the last one, or the first that it leaves, are done.
    ///
    /// # Safety
    /// The table is of this code for a checked launch, which this is, on a CPU that has its ISA level.
    unsafe fn call(&self, table: &mut Vec<u64>, launch: &Launch) -> usize {
        let words = table.len();
        if !launch.arguments.is_empty() {
            self.written.append_pool(launch, table);
        }
        #[cfg(target_arch = "x86_64")]
        {
            type RowCode = unsafe extern "sysv64" fn(table: *mut u64, pool: *const u64) -> usize;
            // SAFETY: the map holds one whole function of this type, which `x86` wrote; the caller promises
            // what it reads and writes.
            let done = unsafe {
                let (rows, start) =
                    (std::mem::transmute::<*const u8, RowCode>(self.map.as_ptr()), table.as_mut_ptr());
                let own = self.written.constants().as_ptr();
                rows(start, if table.len() > words { start.add(words) } else { own })
            };
            table.truncate(words);
            done
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (table, words, &self.map);
            unreachable!("code is written for x86-64 only");
        }
    }
}

impl JitCache {
    /// For kernels and CPUs that may have code.
    pub(super) fn new(
        kernel: &Verified,
        code: Option<IsaLevel>,
        folds: Vec<(FoldOp, usize)>,
    ) -> Option<JitCache> {
        let prepared = CodeGenerator::new(kernel, code?)?;
        let (codes, jammed, folding) = (CodeCache::new(), CodeCache::new(), CodeCache::new());
        Some(JitCache { prepared, codes, jammed, folds, folding })
    }

    /// The number of codes so far, for shapes of launches and for rows that are computed together.
    pub(super) fn codes(&self) -> usize {
        self.codes.sum(|_| 1) + self.jammed.sum(|_| 1) + self.folding.sum(|_| 1)
    }

    /// About how many bytes the codes take, and the kernel with its functions spelled out.
    pub(super) fn bytes(&self) -> usize {
        let of = ExecutableCode::bytes;
        let both = |codes: &LaunchCodes| of(&codes.full) + codes.small.as_ref().map_or(0, of);
        let codes = self.codes.sum(both) + self.jammed.sum(of) + self.folding.sum(of);
        codes + size_of_val(&self.prepared.kernel().body[..])
    }

    /// A launch whose values are folded along rows by code, if they can be.
    pub(super) fn fold<'r>(&self, run: &'r Run<'r>) -> Option<JitFold<'r>> {
        let shape = shape(self.prepared.kernel(), self.prepared.footprint(), run)?;
        let code =
            self.folding.get(shape, |shape| ExecutableCode::new(self.prepared.fold(shape, &self.folds)?))?;
        let tables = CallTables::new(run, &code.written);
        Some(JitFold { run, tables, code })
    }

    /// A launch by code, if it can be.
    pub(super) fn rows<'r>(&self, run: &'r Run<'r>) -> Option<JitRows<'r>> {
        let shape = shape(self.prepared.kernel(), self.prepared.footprint(), run)?;
        let codes = self.codes.get(shape.clone(), |shape| {
            let CodePair { full, small } = self.prepared.write(shape)?;
            let small = small.and_then(ExecutableCode::new);
            Some(LaunchCodes { full: ExecutableCode::new(full)?, small })
        })?;
        let full = CallTables::new(run, &codes.full.written);
        let small = codes.small.as_ref().map(|small| CallTables::new(run, &small.written));
        let jammed = jam(&self.prepared, run).and_then(|jam| {
            self.jammed.get((shape, jam), |(shape, jam)| ExecutableCode::new(self.prepared.jam(shape, jam)?))
        });
        let jammed = jammed.map(|code| (CallTables::new(run, &code.written), code));
        Some(JitRows { run, full, small, jammed, codes })
    }
}

/// The rows of a launch that read the same elements, if they are neighbours along the layout's second
/// innermost dimension.
fn jam(prepared: &CodeGenerator, run: &Run<'_>) -> Option<UnrollAndJam> {
    let down = run.layout.inner().checked_sub(1)?;
    let steps = |dim: &usize| {
        let mut strides = run.launch.views.iter().zip(&run.layout.strides);
        run.layout.dim_of[*dim] == Some(down) && strides.all(|(view, of)| view.strides[*dim] == of[down])
    };
    let dim = prepared.shared_dims().iter().copied().find(steps)?;
    let strides = run.launch.views.iter().map(|view| view.strides.clone()).collect();
    Some(UnrollAndJam { dim, strides, streams: run.stream })
}

/// The shape of this launch, on which code depends; `None` if rows do not lie as lanes do.
fn shape(kernel: &Kernel, footprint: &Footprint, run: &Run<'_>) -> Option<LaunchShape> {
    let inner = run.layout.inner();
    let one = run.layout.extents[inner] == 1;
    let mut layouts = Vec::with_capacity(run.params.len());
    for (param, known) in run.params.iter().zip(&kernel.params) {
        let bytes = param.element_bytes as isize;
        layouts.push(match param.inner_bytes {
            0 if known.access == Access::In => OperandLayout::Broadcast,
            _ if one => OperandLayout::Contiguous,
            step if step == bytes => OperandLayout::Contiguous,
            _ => return None,
        });
    }
    let views =
        || run.launch.views.iter().zip(&layouts).filter(|(_, layouts)| **layouts != OperandLayout::Broadcast);
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
    Some(LaunchShape { unit, along, layouts })
}

/// A pointer of the table, as it moves through a launch.
struct MovingPointer {
    param: usize,
    /// Bytes from the parameter's element at the point.
    away: isize,
    /// Bytes to the row below.
    down: isize,
}

/// A coordinate of the table: that of the launch's first point, and the layout's dimension it grows along.
struct GrowingCoordinate {
    origin: i64,
    dim: Option<usize>,
}

/// The values that a launch writes into the tables of one code.
struct CallTables {
    /// Words of the pool that follows a table; none without arguments.
    pool: usize,
    pointers: Vec<MovingPointer>,
    coordinates: Vec<GrowingCoordinate>,
    /// All rows of all outputs begin a cache line at the same lane.
    lines: bool,
    /// Rows that are computed together.
    rows: usize,
}

/// Lanes of a row that gains from blocks that begin with a cache line, before which there is one under a
/// mask.
const LONG_ROW: usize = 128;

impl CallTables {
    fn new(run: &Run<'_>, written: &MachineCode) -> CallTables {
        let down = run.layout.inner().checked_sub(1);
        let pointer = |pointer: &RowPointer| {
            let param = &run.params[pointer.param];
            let strides = &run.launch.views[pointer.param].strides;
            let away: i64 = strides.iter().zip(&pointer.offsets).map(|(&s, &d)| s * i64::from(d)).sum();
            MovingPointer {
                param: pointer.param,
                away: away as isize * param.element_bytes as isize,
                down: down.map_or(0, |down| param.strides_bytes[down]),
            }
        };
        let coordinate =
            |&dim: &usize| GrowingCoordinate { origin: run.launch.origin[dim], dim: run.layout.dim_of[dim] };
        CallTables {
            pool: if run.launch.arguments.is_empty() { 0 } else { written.constants().len() },
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
        table.reserve(words::POINTERS + 2 * (self.pointers.len() + self.coordinates.len()) + self.pool);
        table.resize(words::POINTERS, 0);
        table[words::LANES] = lanes as u64;
        table[words::ROWS] = groups as u64;
        table[words::ALIGNED] = u64::from(stream || self.lines && lanes >= LONG_ROW);
        table[words::NON_TEMPORAL] = u64::from(stream);
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

/// Are blocks aligned in all rows of all outputs at the same lanes, which code finds by the first output's
/// row? Rows that are computed `together` must share it, too. Bools do not count; strided outputs have no
/// aligned blocks.
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
pub(super) struct JitRows<'r> {
    run: &'r Run<'r>,
    codes: Arc<LaunchCodes>,
    full: CallTables,
    small: Option<CallTables>,
    jammed: Option<(CallTables, Arc<ExecutableCode>)>,
}

/// Lanes that are computed for angles of any size before small ones are expected again.
const LARGE_ANGLES: usize = 1024;

impl JitRows<'_> {
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
    /// As [`JitRows::tile`].
    unsafe fn plane(&self, mut index: Dims<usize>, lanes: usize, mut rows: usize, table: &mut Vec<u64>) {
        let outer = self.run.layout.inner().saturating_sub(1);
        if let Some((tables, code)) = &self.jammed {
            let groups = rows / tables.rows;
            if groups > 0 {
                tables.fill(self.run, table, &index, lanes, groups);
                // SAFETY: the caller's promise: the pointers are those of rows of the region.
                unsafe { code.call(table, self.run.launch) };
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
            let done = unsafe { code.call(table, self.run.launch) };
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
    /// As [`JitRows::tile`].
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
            unsafe { self.codes.full.call(&mut table, self.run.launch) };
            (index[inner], lanes) = (index[inner] + some, lanes - some);
            if let (Some(code), Some(tables), 1..) = (&self.codes.small, &self.small, lanes) {
                tables.fill(self.run, &mut table, &index, lanes, 1);
                // SAFETY: the caller's promise.
                let done = unsafe { code.call(&mut table, self.run.launch) };
                (index[inner], lanes) = (index[inner] + done, lanes - done);
            }
        }
    }
}

/// A launch whose values are folded along rows by code.
pub(super) struct JitFold<'r> {
    run: &'r Run<'r>,
    tables: CallTables,
    code: Arc<ExecutableCode>,
}

/// The values that one thread has folded so far.
pub(super) struct FoldTree {
    levels: Vec<Line>,
    table: Vec<u64>,
}

impl FoldTree {
    fn base(&mut self) -> *mut u64 {
        self.levels.as_mut_ptr().cast()
    }

    fn set(&mut self, word: usize, value: u64) {
        // SAFETY: the words of a fold's memory come before its values.
        unsafe { self.base().add(word).write(value) };
    }
}

/// The rows behind which a result is due.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    No,
    LastRow,
    EachRow,
}

impl JitFold<'_> {
    /// A tree for results of so many points at most.
    pub(super) fn tree(&self, points: usize) -> FoldTree {
        let memory = self.memory();
        let bytes = memory.levels(points) * memory.level_bytes;
        let mut tree = FoldTree { levels: vec![Line::ZERO; bytes / size_of::<Line>()], table: Vec::new() };
        let base = tree.base() as u64;
        tree.set(FoldMemory::TOP, base);
        tree
    }

    fn memory(&self) -> &FoldMemory {
        self.code.written.fold.as_ref().expect("code that folds")
    }

    /// Sets the address of the results of fold number `fold` from now on.
    pub(super) fn place(&self, tree: &mut FoldTree, fold: usize, results: *mut u8) {
        tree.set(FoldMemory::RESULTS + fold, results as u64);
    }

    /// Folds `lanes` lanes of rows that lie below each other from `index` on.
    ///
    /// # Safety
    /// As [`JitRows::tile`]; the tree has levels for its points, and results have places.
    pub(super) unsafe fn rows(
        &self,
        tree: &mut FoldTree,
        index: &Dims<usize>,
        lanes: usize,
        rows: usize,
        due: Due,
    ) {
        tree.set(FoldMemory::DUE, [0, 1, u64::MAX][due as usize]);
        let base = tree.base() as u64;
        self.tables.fill(self.run, &mut tree.table, index, lanes, rows);
        tree.table[words::FOLD] = base;
        // SAFETY: the caller's promise: the pointers are those of rows of the region.
        unsafe { self.code.call(&mut tree.table, self.run.launch) };
    }
}
