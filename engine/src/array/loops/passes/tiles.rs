//! Several steps of one tile after another instead of one step of everything: what a step writes is still in
//! the cache when the next one reads it. An order of the same launches, cut into boxes; so the results are
//! the same.
//!
//! Tiles are skewed. A launch goes through tile `t` of the outer dimensions up to `t * size + skew`, with a
//! skew so far behind those before it that whatever two launches have in common is touched in their old
//! order. So a tile depends on no tile that is further on in either dimension, and rows of tiles run beside
//! each other (`device::Sweep`). Works on launches and the memory that they touch.

use std::collections::HashMap;
use std::sync::Arc;

use partita_kernels::{Access, DType, Form, Launch, View};

use crate::device::{Job, RecordedWork, Sweep};

/// The most launches that replace those of a batch.
const MAX_JOBS: usize = 1 << 18;

/// Dimensions that are cut: the outermost of large arrays.
const CUT: usize = 2;

/// The rows that one launch touches of one memory, relative to the row of its point.
#[derive(Clone, Copy)]
struct Touch {
    memory: u64,
    writes: bool,
    lo: [i64; CUT],
    hi: [i64; CUT],
}

/// A launch among others: the rows of its points, and what they touch.
struct TiledLaunch {
    first: [i64; CUT],
    count: [i64; CUT],
    touches: Vec<Touch>,
}

/// Distances in bytes between neighbours along the dimensions that are cut.
type Pitch = [i64; CUT];

/// The number of dimensions of a launch that are cut: of a plane, rows alone.
fn cut_of(rank: usize) -> usize {
    if rank > CUT { CUT } else { 1 }
}

/// Launches one after another that may go tile by tile.
struct Run<'a> {
    jobs: &'a [Job],
    placed: Vec<TiledLaunch>,
    skews: Vec<[i64; CUT]>,
    sizes: [i64; CUT],
    /// Whether one tile has room for everything.
    fits: bool,
}

/// The same launches, runs of them tile by tile; `None` where no run can be so, or need be because everything
/// fits.
pub(crate) fn tiled(jobs: &[Job], cache_bytes: i64) -> Option<Vec<RecordedWork>> {
    let (mut ordered, mut rest, mut is_tiled) = (Vec::new(), jobs, false);
    while !rest.is_empty() {
        // The longest run that can be so. What packs faces or copies from part to part stands between two.
        let ends: Vec<usize> = (1..=rest.len()).collect();
        let end = ends.partition_point(|&end| Run::new(&rest[..end], cache_bytes).is_some()).max(1);
        let (run, others) = rest.split_at(end);
        let tiles = Run::new(run, cache_bytes).and_then(|run| run.tiles());
        is_tiled |= tiles.is_some();
        ordered.push(match tiles {
            None => RecordedWork::Jobs(run.to_vec()),
            // If a row is one tile, the next row waits for all of it.
            Some(rows) if rows.iter().all(|row| row.len() == 1) => {
                RecordedWork::Jobs(rows.into_iter().flatten().flatten().collect())
            }
            Some(rows) => RecordedWork::Tiles(Sweep::new(rows)),
        });
        rest = others;
    }
    is_tiled.then_some(ordered)
}

impl<'a> Run<'a> {
    /// `None` where launches differ in what a row is, or one stays so far behind that tiles are no gain.
    fn new(jobs: &'a [Job], cache_bytes: i64) -> Option<Self> {
        let written = written(jobs)?;
        let placed: Vec<TiledLaunch> = jobs.iter().map(|job| place(job, &written)).collect::<Option<_>>()?;
        let skews = skews(&placed);
        let is_cut_twice = jobs.iter().any(|job| job.launch.extents.len() > CUT);
        // The rows, or pieces of them, of every memory that the cache has room for at once.
        let fit = cache_bytes / bytes_of_a_row(jobs, &written, usize::from(is_cut_twice)).max(1);
        let spread = |d: usize| skews.iter().map(|skew| -skew[d]).max().unwrap_or(0);
        // A tile that is smaller than what it slides by is no gain.
        let side = |fit: i64, d: usize| Some(fit - spread(d)).filter(|&side| side >= spread(d).max(4));
        let sizes = match is_cut_twice {
            true => [side(fit.isqrt(), 0)?, side(fit.isqrt(), 1)?],
            false => [side(fit, 0)?, i64::MAX / 4],
        };
        let extent = |d: usize| {
            let stop = placed.iter().map(|p| p.first[d] + p.count[d]).max().unwrap_or(0);
            stop - placed.iter().map(|p| p.first[d]).min().unwrap_or(0)
        };
        let fits = extent(0).saturating_mul(if is_cut_twice { extent(1) } else { 1 }) <= fit;
        Some(Self { jobs, placed, skews, sizes, fits })
    }

    /// The run as rows of tiles; `None` if one tile has room for it.
    fn tiles(&self) -> Option<Vec<Vec<Vec<Job>>>> {
        if self.fits {
            return None;
        }
        let Self { jobs, placed, skews, sizes, .. } = self;
        let range = |d: usize| {
            let ends = placed
                .iter()
                .zip(skews)
                .map(|(p, skew)| (p.first[d] - skew[d], p.first[d] + p.count[d] - skew[d]));
            let (lo, hi) = ends.fold((i64::MAX, i64::MIN), |(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
            lo.div_euclid(sizes[d])..=(hi - 1).div_euclid(sizes[d])
        };
        let (mut rows, mut count) = (Vec::new(), 0);
        for outer in range(0) {
            let mut row = Vec::new();
            for inner in range(1) {
                let parts = jobs.iter().zip(placed).zip(skews);
                let cut =
                    parts.filter_map(|((job, placed), skew)| placed.cut(job, [outer, inner], sizes, skew));
                let tile: Vec<Job> = cut.collect();
                count += tile.len();
                if count > MAX_JOBS {
                    return None;
                }
                row.push(tile);
            }
            rows.push(row);
        }
        Some(rows)
    }
}

/// The pitches of every memory that is written. Others order nothing.
fn written(jobs: &[Job]) -> Option<HashMap<u64, Pitch>> {
    let mut pitches = HashMap::new();
    for job in jobs {
        let kernel = job.program.kernel().kernel();
        if !matches!(kernel.form, Form::Elementwise { .. }) {
            return None;
        }
        let uses = kernel.params.iter().zip(&job.memory).zip(&job.launch.views);
        for ((param, memory), view) in uses.filter(|((param, _), _)| param.access != Access::In) {
            pitches.insert(memory.id, pitch(view, param.dtype));
        }
    }
    Some(pitches)
}

fn pitch(view: &View, dtype: DType) -> Pitch {
    let stride = |d: usize| view.strides.get(d).copied().unwrap_or(1) * dtype.size_bytes() as i64;
    [stride(0), stride(cut_of(view.strides.len()) - 1)]
}

/// The place of a launch and of the rows it touches; `None` if rows of one launch are no rows of another.
fn place(job: &Job, written: &HashMap<u64, Pitch>) -> Option<TiledLaunch> {
    let verified = job.program.kernel();
    let kernel = verified.kernel();
    let Launch { extents, views, .. } = &*job.launch;
    let rank = extents.len();
    let cut = cut_of(rank);
    let mut found = Vec::new();
    for (at, param) in kernel.params.iter().enumerate() {
        let Some(known) = written.get(&job.memory[at].id) else { continue };
        let view = &views[at];
        // In bytes: freed memory comes back for arrays of another type.
        if rank == 0 || pitch(view, param.dtype) != *known || view.strides.iter().any(|&stride| stride < 1) {
            return None;
        }
        let known = known.map(|bytes| bytes / param.dtype.size_bytes() as i64);
        let (lo, hi): (Vec<i64>, Vec<i64>) =
            verified.radius(at as u32).into_iter().map(|(lo, hi)| (i64::from(lo), i64::from(hi))).unzip();
        let row = [view.offset.div_euclid(known[0]), view.offset.rem_euclid(known[0]).div_euclid(known[1])];
        // The loads of a row must not lie in the next one.
        let mut room = known[0];
        for d in 1..cut {
            let (first, last) = (row[d] + lo[d], row[d] + extents[d] as i64 - 1 + hi[d]);
            if room % known[d] != 0 || first < 0 || last >= room / known[d] {
                return None;
            }
            room = known[d];
        }
        let inside = view.offset.rem_euclid(room);
        let least = (cut..rank).map(|d| lo[d] * view.strides[d]).sum::<i64>();
        let most = (cut..rank).map(|d| (extents[d] as i64 - 1 + hi[d]) * view.strides[d]).sum::<i64>();
        if inside + least < 0 || inside + most >= room {
            return None;
        }
        let by = |of: &[i64], d: usize| if d < cut { row[d] + of[d] } else { 0 };
        let writes = param.access != Access::In;
        let touch = Touch {
            memory: job.memory[at].id,
            writes,
            lo: [by(&lo, 0), by(&lo, 1)],
            hi: [by(&hi, 0), by(&hi, 1)],
        };
        found.push((touch, row));
    }
    let first = found.iter().find(|(touch, _)| touch.writes).map(|(_, row)| *row)?;
    let first = [first[0], if cut > 1 { first[1] } else { 0 }];
    let relative = |of: [i64; CUT]| [of[0] - first[0], of[1] - first[1]];
    let touches = found
        .into_iter()
        .map(|(touch, _)| Touch { lo: relative(touch.lo), hi: relative(touch.hi), ..touch })
        .collect();
    let count = [extents[0] as i64, if cut > 1 { extents[1] as i64 } else { 1 }];
    Some(TiledLaunch { first, count, touches })
}

/// The distance by which each launch stays behind.
fn skews(placed: &[TiledLaunch]) -> Vec<[i64; CUT]> {
    let mut skews: Vec<[i64; CUT]> = Vec::with_capacity(placed.len());
    for later in placed {
        let mut skew = [0; CUT];
        for (earlier, before) in placed.iter().zip(&skews) {
            for a in &earlier.touches {
                let common = later.touches.iter().filter(|b| b.memory == a.memory && (a.writes || b.writes));
                for b in common {
                    for d in 0..CUT {
                        skew[d] = skew[d].min(before[d] - (b.hi[d] - a.lo[d]));
                    }
                }
            }
        }
        skews.push(skew);
    }
    skews
}

/// The bytes of one row along dimension `d` of every memory, constants included.
fn bytes_of_a_row(jobs: &[Job], written: &HashMap<u64, Pitch>, d: usize) -> i64 {
    let mut rows: HashMap<u64, i64> = HashMap::new();
    for job in jobs {
        let params = &job.program.kernel().kernel().params;
        for ((memory, view), param) in job.memory.iter().zip(&job.launch.views).zip(params) {
            let known = written.get(&memory.id).copied().unwrap_or_else(|| pitch(view, param.dtype));
            rows.insert(memory.id, known[d].max(0));
        }
    }
    rows.values().sum()
}

impl TiledLaunch {
    /// The share of a launch in one tile.
    fn cut(&self, job: &Job, tile: [i64; CUT], sizes: &[i64; CUT], skew: &[i64; CUT]) -> Option<Job> {
        let range = |d: usize| {
            let from = tile[d].saturating_mul(sizes[d]) + skew[d];
            (from.max(self.first[d]), (from + sizes[d]).min(self.first[d] + self.count[d]))
        };
        // Beside launches that are cut in more dimensions, a plane's rows belong to one column of tiles.
        if (0..CUT).map(range).any(|(start, stop)| start >= stop) {
            return None;
        }
        let mut launch = (*job.launch).clone();
        for d in 0..cut_of(launch.extents.len()) {
            let (start, stop) = range(d);
            let by = start - self.first[d];
            launch.extents[d] = (stop - start) as usize;
            launch.origin[d] += by;
            launch.views.iter_mut().for_each(|view| view.offset += by * view.strides[d]);
        }
        Some(Job { program: Arc::clone(&job.program), launch: Arc::new(launch), memory: job.memory.clone() })
    }
}
