//! From a launch to dispatches, by the form of its kernel; and the kernel spread out, for launches that fit
//! no other way.

use partita_kernels::verify::verify;
use partita_kernels::wgsl::layout::Header;
use partita_kernels::wgsl::{PACK, Shader, Stage, unit_elements};
use partita_kernels::{Access, Form, Inst, Kernel, Launch, Op, Param, Verified, View};

use super::pieces::{
    Bounds, Dispatch, IndexWindow, Limits, Pass, Piece, Planner, TooWide, Window, Work, index_windows,
    is_folded, split,
};
use super::reductions;

/// Plans a launch that [`Verified::check`] has passed. `lens` are the elements of each memory.
///
/// # Errors
/// If a single point is too wide for a binding.
pub fn plan(
    kernel: &Verified,
    shader: &Shader,
    launch: &Launch,
    lens: &[u64],
    limits: &Limits,
) -> Result<Work, TooWide> {
    let launch = merged(kernel, launch);
    let bounds = bounds(kernel.kernel(), &launch, shader, limits);
    let pieces = split(kernel, &launch, &bounds)?;
    let planner = Planner { shader, limits };
    let mut work = Work::default();
    match kernel.kernel().form {
        Form::Elementwise { .. } => {
            pieces.iter().for_each(|p| work.dispatches.push(planner.tiles(kernel.kernel(), p, None)))
        }
        Form::Scan(scan) => {
            // One item per line.
            for mut piece in pieces {
                let length = std::mem::replace(&mut piece.launch.extents[scan.axis], 1);
                work.dispatches.extend((length > 0).then(|| planner.lines(kernel.kernel(), &piece, length)));
            }
        }
        Form::Gather { source: indexed, .. } | Form::Scatter { output: indexed, .. } => {
            let (p, dtype) = (indexed as usize, kernel.kernel().params[indexed as usize].dtype);
            for window in index_windows(dtype, launch.views[p].offset, lens[p], &bounds) {
                for piece in &pieces {
                    work.dispatches.push(planner.tiles(kernel.kernel(), piece, Some((p, window))));
                }
            }
        }
        Form::Reduce { .. } => {
            for piece in &pieces {
                reductions::plan(&planner, kernel, piece, &bounds, &mut work)?;
            }
        }
    }
    Ok(work)
}

/// The limits of one dispatch.
fn bounds(kernel: &Kernel, launch: &Launch, shader: &Shader, limits: &Limits) -> Bounds {
    let max_groups = u64::from(limits.max_groups).pow(3);
    let all = Bounds {
        max_binding_bytes: limits.max_binding_bytes,
        offset_alignment: limits.offset_alignment,
        max_groups,
        max_points: max_groups.saturating_mul(u64::from(limits.workgroup_size)).min(1 << 30) as usize,
        max_kept: usize::MAX,
    };
    match kernel.form {
        Form::Reduce { .. } => {
            let folded = (0..kernel.rank).filter(|&dim| is_folded(kernel, dim));
            let folded = folded.map(|dim| launch.extents[dim] as u64).product();
            reductions::bounds(all, folded, shader.stages[0].workgroup_size)
        }
        Form::Elementwise { .. } | Form::Scan(_) | Form::Gather { .. } | Form::Scatter { .. } => all,
    }
}

/// The launch with neighbouring dimensions made one wherever every memory is contiguous across
/// them, so that rows are long. Kernels that use coordinates stay as they are, and the values of a fold keep
/// their numbers.
fn merged(kernel: &Verified, launch: &Launch) -> Launch {
    let mut launch = launch.clone();
    let footprint = kernel.footprint();
    if !footprint.coords().is_empty() {
        return launch;
    }
    let mut into = launch.extents.len().saturating_sub(1);
    for k in (0..into).rev() {
        let inner = launch.extents[into] as i64;
        let seamless = launch.views.iter().all(|v| v.strides[k] == v.strides[into].wrapping_mul(inner));
        let alike = match (is_folded(kernel.kernel(), k), is_folded(kernel.kernel(), into)) {
            (true, true) => {
                let mut order = footprint.fold_order(&launch);
                order.retain(|&dim| launch.extents[dim] != 1);
                order.windows(2).any(|pair| pair == [k, into])
            }
            (k, into) => k == into,
        };
        if launch.extents[k] == 1 {
            continue;
        }
        if seamless && alike {
            launch.extents[into] *= launch.extents[k];
            launch.extents[k] = 1;
        } else {
            into = k;
        }
    }
    launch
}

impl Planner<'_> {
    /// The dispatch of one piece of a scan, whose lines have so many points.
    fn lines(&self, kernel: &Kernel, piece: &Piece, length: usize) -> Dispatch {
        self.items(kernel, piece, None, length as u32)
    }

    /// The dispatch of one piece of a pointwise kernel.
    fn tiles(&self, kernel: &Kernel, piece: &Piece, index: Option<(usize, IndexWindow)>) -> Dispatch {
        self.items(kernel, piece, index, 0)
    }

    fn items(
        &self,
        kernel: &Kernel,
        piece: &Piece,
        index: Option<(usize, IndexWindow)>,
        end: u32,
    ) -> Dispatch {
        if let Some(dispatch) = self.blocks(kernel, piece) {
            return dispatch;
        }
        let stage = self.stage(kernel, piece);
        let visit = self.shader.stages[stage].visit;
        let points = piece.launch.points() as u64;
        let inner = piece.launch.extents.last().copied().unwrap_or(1) as u64;
        let (rows, tile) = (points / inner, u64::from(visit.tile));
        let items = visit.grid.map_or(inner, |grid| packs(kernel, piece, grid as usize, PACK));
        let chunks = items.div_ceil(tile);
        // Aligned rows waste the end of each row's last tile; accept a quarter of the invocations.
        let capacity = u64::from(self.limits.max_groups).pow(3);
        let aligned = items * 4 >= chunks * tile * 3 && rows * chunks <= capacity;
        let count = if aligned { rows * chunks } else { (rows * items).div_ceil(tile) };
        let groups = self.groups(count);
        let mut header = Header {
            groups: [groups[0], groups[1]],
            limit: if aligned { items } else { rows * items } as u32,
            chunks: if aligned { chunks as u32 } else { 0 },
            kept: rows as u32,
            first: items as u32,
            end,
            ..Header::default()
        };
        let mut windows = piece.windows.clone();
        if let Some((param, at)) = index {
            header.window_first = at.first;
            header.window_count = at.count;
            header.window_element = at.window.element;
            windows[param] = Some(at.window);
        }
        let pass = Pass { stage, groups, header, divisors: Vec::new(), sides: [0, 0] };
        self.dispatch(pass, &piece.launch, &windows)
    }

    /// The first stage, if it visits points or owns the words that its packs write; else that of points.
    fn stage(&self, kernel: &Kernel, piece: &Piece) -> usize {
        let is_single = |stage: &Stage| stage.visit.grid.is_none() && stage.visit.blocks.is_none();
        match (self.shader.stages[0].visit.grid, self.shader.stages.iter().position(is_single)) {
            (Some(grid), Some(single)) if !owns_words(kernel, piece, grid as usize) => single,
            _ => 0,
        }
    }

    /// The dispatch of a piece by the stage whose workgroups are blocks, if the piece suits it.
    fn blocks(&self, kernel: &Kernel, piece: &Piece) -> Option<Dispatch> {
        let stage = self.shader.stages.iter().position(|stage| stage.visit.blocks.is_some())?;
        let visit = self.shader.stages[stage].visit;
        let blocks = visit.blocks?;
        let mut launch = piece.launch.clone();
        let y = launch.extents.len() - 2;
        let (items, log) = match visit.grid {
            Some(grid) => {
                let points = unit_elements(kernel.params[grid as usize].dtype);
                if !in_phase(piece, points) || launch.extents[blocks.along] < blocks.planes as usize {
                    return None;
                }
                let items = packs(kernel, piece, grid as usize, points);
                // Narrow blocks where wide ones stick out of the rows.
                let log = [5, 4].into_iter().min_by_key(|&log| items.next_multiple_of(1 << log))?;
                (items, log)
            }
            None => {
                let turned = turned(kernel, piece, visit.tile as usize)?;
                launch.extents[turned..=y].rotate_left(1);
                launch.views.iter_mut().for_each(|view| view.strides[turned..=y].rotate_left(1));
                (launch.extents[y + 1] as u64, 5)
            }
        };
        let size = u64::from(self.shader.stages[stage].workgroup_size);
        let count = |dim: usize| {
            let planes = if dim == blocks.along { u64::from(blocks.planes.max(1)) } else { 1 };
            (launch.extents[dim] as u64).div_ceil(planes)
        };
        let height = if visit.grid.is_some() { size >> log } else { u64::from(visit.tile) };
        let (across, down) = (items.div_ceil(1 << log), count(y).div_ceil(height));
        let outer: u64 = (0..y).map(count).product();
        let all = across * down * outer;
        if all > u64::from(self.limits.max_groups).pow(3) {
            return None;
        }
        let groups = self.groups(all);
        let header = Header {
            groups: [groups[0], groups[1]],
            limit: items as u32,
            chunks: down as u32,
            kept: outer as u32,
            first: across as u32,
            log_threads: log,
            ..Header::default()
        };
        let pass = Pass { stage, groups, header, divisors: Vec::new(), sides: [0, 0] };
        Some(self.dispatch(pass, &launch, &piece.windows))
    }
}

/// Rows shorter than this are not worth units that stick out of them.
const SHORT_ROW: usize = 8;

/// Whether the rows of all parameters begin at the same place of a unit.
fn in_phase(piece: &Piece, points: u32) -> bool {
    let is_long = piece.launch.extents.last().is_some_and(|&x| x >= SHORT_ROW);
    let bound = || piece.launch.views.iter().zip(&piece.windows).filter_map(|(v, w)| Some((v, (*w)?)));
    let first = bound().next().map(|(_, window)| window.element % points);
    let is_alike = |(view, window): (&View, Window)| {
        let outer = view.strides.iter().rev().skip(1);
        view.strides.last() == Some(&1)
            && { outer }.all(|stride| stride % i64::from(points) == 0)
            && Some(window.element % points) == first
    };
    is_long && bound().all(is_alike)
}

/// The dimension of the columns of squares: neighbours of an input in memory lie along it, and those of the
/// first output along the last.
fn turned(kernel: &Kernel, piece: &Piece, side: usize) -> Option<usize> {
    let Form::Elementwise { stores } = &kernel.form else { return None };
    let is_long = |dim: usize| piece.launch.extents[dim] >= side / 2;
    let x = piece.launch.extents.len() - 1;
    let inputs = kernel.params.iter().zip(&piece.launch.views).filter(|(p, _)| p.access == Access::In);
    // An operand that is the same along x is best loaded as it is.
    let crossed = |(_, view): (&Param, &View)| {
        let is_crossed = ![0, 1].contains(&view.strides[x]);
        (0..x).find(|&dim| is_crossed && is_long(dim) && view.strides[dim] == 1)
    };
    let is_dense = piece.launch.views[stores[0].param as usize].strides[x] == 1;
    if is_dense && is_long(x) { { inputs }.find_map(crossed) } else { None }
}

/// The element of a piece's first point in what is bound of a parameter.
fn element(piece: &Piece, param: usize) -> u32 {
    piece.windows[param].map_or(0, |window| window.element)
}

/// Whether all rows of a parameter are neighbours in memory that begin at the same place of their units of
/// so many elements.
fn rows_agree(piece: &Piece, param: usize, unit: u32) -> bool {
    let outer = piece.launch.views[param].strides.iter().zip(&piece.launch.extents);
    let mut outer = outer.take(piece.launch.extents.len().saturating_sub(1));
    outer.all(|(stride, &extent)| extent == 1 || stride % i64::from(unit) == 0)
}

fn is_dense(piece: &Piece, param: usize) -> bool {
    piece.launch.views[param].strides.last() == Some(&1)
}

/// Packs of so many points that hold each row, aligned to the units of a parameter.
fn packs(kernel: &Kernel, piece: &Piece, grid: usize, points: u32) -> u64 {
    let inner = piece.launch.extents.last().copied().unwrap_or(1) as u64;
    let unit = unit_elements(kernel.params[grid].dtype);
    let phase = match (is_dense(piece, grid), rows_agree(piece, grid, unit)) {
        (false, _) => 0,
        (true, true) => element(piece, grid) % unit,
        (true, false) => unit - 1,
    };
    (inner + u64::from(phase)).div_ceil(points.into())
}

/// Whether no word of a narrow output belongs to two packs: neither of one row nor of neighbouring ones.
fn owns_words(kernel: &Kernel, piece: &Piece, grid: usize) -> bool {
    let owned = |p: usize, in_word: u32| {
        is_dense(piece, p)
            && rows_agree(piece, p, in_word)
            && element(piece, p) % in_word == element(piece, grid) % in_word
    };
    let narrow = kernel.params.iter().enumerate().filter(|(_, p)| p.access != Access::In);
    narrow
        .filter(|(_, p)| p.dtype.size_bytes() < 4)
        .all(|(p, param)| owned(p, 4 / param.dtype.size_bytes() as u32))
}

/// A kernel in which every load away from the point has a parameter of its own, and where each of its
/// parameters comes from. One point of a stencil may span several planes, more than a binding holds. Spread
/// out, each load sees the same memory through its own view and binding, and spans nothing at all. Text is
/// longer and bindings are more.
pub struct Spread {
    /// Its first parameters are those of the original.
    pub kernel: Verified,
    /// Per parameter: the original one, and the offsets that its view is moved by.
    pub sources: Vec<(usize, Vec<i32>)>,
}

impl Spread {
    /// `None` if the kernel has no load away from the point.
    pub fn of(kernel: &Verified) -> Option<Spread> {
        if kernel.footprint().is_pointwise() {
            return None;
        }
        let loads = kernel.footprint().loads();
        let mut spread = kernel.kernel().clone();
        let mut sources: Vec<_> = (0..spread.params.len()).map(|p| (p, vec![0; spread.rank])).collect();
        let mut places: Vec<u32> = Vec::with_capacity(loads.len());
        for site in loads {
            let (param, source) = (site.param as usize, (site.param as usize, site.offsets.clone()));
            if places.contains(&site.param) {
                places.push(sources.len() as u32);
                sources.push(source);
                spread.params.push(Param { dtype: spread.params[param].dtype, access: Access::In });
            } else {
                places.push(site.param);
                sources[param] = source;
            }
        }
        for inst in &mut spread.body {
            let Inst { op: Op::Load { param, offsets }, .. } = inst else { continue };
            let load =
                loads.iter().zip(&places).find(|(site, _)| site.param == *param && site.offsets == *offsets);
            *param = *load?.1;
            offsets.fill(0);
        }
        Some(Spread { kernel: verify(spread).ok()?, sources })
    }

    /// The same launch for this kernel.
    pub fn launch(&self, launch: &Launch) -> Launch {
        let views = self.sources.iter().map(|(param, offsets)| {
            let mut view = launch.views[*param].clone();
            view.offset += offsets.iter().zip(&view.strides).map(|(&d, &s)| i64::from(d) * s).sum::<i64>();
            view
        });
        Launch { views: views.collect(), ..launch.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_kernels::wgsl::{WgslTarget, emit};
    use partita_kernels::{BinaryOp, Builder, DType, View};

    /// The stage of the one dispatch of a launch, and its workgroups.
    fn chosen(kernel: &Verified, extents: &[usize], views: [(i64, &[i64]); 2]) -> (&'static str, u32) {
        let shader = emit(kernel, &WgslTarget::CAUTIOUS).unwrap();
        let limits = Limits {
            max_binding_bytes: 1 << 30,
            max_groups: 65_535,
            offset_alignment: 256,
            workgroup_size: 256,
        };
        let views = views.map(|(offset, strides)| View { offset, strides: strides.to_vec() }).to_vec();
        let launch =
            Launch { extents: extents.to_vec(), origin: vec![0; extents.len()], views, arguments: vec![] };
        let work = plan(kernel, &shader, &launch, &[1 << 28; 2], &limits).unwrap();
        let [dispatch] = &work.dispatches[..] else { panic!("{:?}", work.dispatches) };
        (shader.stages[dispatch.stage].entry, dispatch.groups.iter().product())
    }

    #[test]
    fn stencils_in_phase_take_planes_and_transposed_inputs_squares() {
        let mut k = Builder::new("column", 3);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let (up, down) = (k.load(input, &[-1, 0, 0]), k.load(input, &[1, 0, 0]));
        let sum = k.binary(BinaryOp::Add, up, down);
        let column = k.elementwise(&[(output, sum)]).unwrap();
        let strides = [68 * 64, 68, 1];
        let (read, extents) = ((68 * 64 + 2, &strides[..]), [16, 60, 62]);
        // Four planes at a time, 16 packs of a row and 16 rows.
        assert_eq!(chosen(&column, &extents, [read, (2, &strides)]), ("planes", 16));
        for other in [(3, &strides[..]), (2, &[68 * 64, 67, 1]), (2, &[68 * 64, 68, 2])] {
            assert_eq!(chosen(&column, &extents, [read, other]).0, "elementwise");
        }
        assert_eq!(chosen(&column, &[3, 60, 62], [read, (2, &strides)]).0, "elementwise");
        let mut k = Builder::new("copy", 2);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let value = k.load(input, &[0, 0]);
        let copy = k.elementwise(&[(output, value)]).unwrap();
        let turned = |extents, read, written| chosen(&copy, extents, [(0, read), (0, written)]);
        assert_eq!(turned(&[33, 64], &[1, 33], &[64, 1]), ("transpose", 4));
        assert_eq!(turned(&[33, 64], &[64, 1], &[64, 1]).0, "elementwise");
        assert_eq!(turned(&[33, 64], &[1, 33], &[1, 33]).0, "elementwise");
        assert_eq!(turned(&[15, 64], &[1, 33], &[64, 1]).0, "elementwise");
        assert_eq!(turned(&[33, 64], &[1, 0], &[64, 1]).0, "elementwise");
    }

    #[test]
    fn every_load_is_at_its_own_point() {
        let mut k = Builder::new("blur", 2);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let (up, down) = (k.load(input, &[-1, 0]), k.load(input, &[1, 0]));
        let sum = k.binary(BinaryOp::Add, up, down);
        let kernel = k.elementwise(&[(output, sum)]).unwrap();
        let spread = Spread::of(&kernel).unwrap();
        assert_eq!(spread.sources, [(0, vec![-1, 0]), (1, vec![0, 0]), (0, vec![1, 0])]);
        assert!(Spread::of(&spread.kernel).is_none());
        let view = View { offset: 50, strides: vec![10, 1] };
        let launch = Launch {
            extents: vec![2, 3],
            origin: vec![0, 0],
            views: vec![view.clone(), view],
            arguments: vec![],
        };
        let offsets: Vec<i64> = spread.launch(&launch).views.iter().map(|v| v.offset).collect();
        assert_eq!(offsets, [40, 50, 60]);
    }
}
