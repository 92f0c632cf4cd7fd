//! Grids of launches: merged dimensions, cuts of regions, limits. That the grids compute the right bits is
//! tested beside, on a simulated GPU.

use partita_kernels::ptx::{Facts, Grid, Module, PtxTarget, Span, emit};
use partita_kernels::{BinaryOp, Builder, DType, Fold, FoldOp, Launch, Scalar, View};

use crate::agreement::{cube, star, weighted};

const FACTS: Facts = Facts { multiprocessors: 132 };
const TARGET: PtxTarget = PtxTarget { sm: 90 };
/// Threads of a full block.
const THREADS: u32 = 256;

fn copy(dtype: DType, rank: usize) -> Module {
    let mut k = Builder::new("copy", rank);
    let (input, output) = (k.input(dtype), k.output(dtype));
    let value = k.load(input, &vec![0; rank]);
    emit(&k.elementwise(&[(output, value)]).unwrap(), &TARGET).unwrap()
}

fn sum(axes: &[bool]) -> Module {
    let mut k = Builder::new("sum", axes.len());
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let value = k.load(input, &vec![0; axes.len()]);
    emit(&k.reduce(axes, &[Fold::Value { op: FoldOp::Sum, value, output }]).unwrap(), &TARGET).unwrap()
}

/// Two arrays with these strides.
fn launch(extents: &[usize], input: &[i64], output: &[i64]) -> Launch {
    let view = |strides: &[i64]| View { offset: 0, strides: strides.to_vec() };
    Launch {
        extents: extents.to_vec(),
        origin: vec![0; extents.len()],
        views: vec![view(input), view(output)],
        arguments: vec![],
    }
}

/// The text of an entry.
fn entry_text(module: &Module, entry: usize) -> String {
    let (text, name) = (module.text(entry), &module.entries[entry].name);
    text[text.find(&format!(".entry {name}(")).unwrap()..].to_owned()
}

/// The number between two texts.
fn between(text: &str, before: &str, after: &str) -> usize {
    let text = &text[text.find(before).unwrap_or_else(|| panic!("{before} in\n{text}")) + before.len()..];
    text[..text.find(after).unwrap()].parse().unwrap()
}

fn prepare(module: &Module, launch: &Launch) -> Vec<Grid> {
    let memory = [0x1_0000_0000, 0x2_0000_0000].map(|address| Span { address, bytes: 1 << 40 });
    let grids = module.plan(launch, &memory, FACTS).grids(0x100);
    for grid in &grids {
        assert!(grid.grid[0] >= 1 && grid.grid[0] <= i32::MAX as u32, "{:?}", grid.grid);
        assert!(grid.grid[1..].iter().all(|n| (1..=65535).contains(n)), "{:?}", grid.grid);
        assert!(grid.block.iter().product::<u32>() <= THREADS, "{:?}", grid.block);
        assert_eq!(grid.params.len(), between(&entry_text(module, grid.entry), "launch[", "]"));
    }
    grids
}

fn scratch_bytes(module: &Module, launch: &Launch) -> u64 {
    module.plan(launch, &[Span { address: 0, bytes: 0 }; 2], FACTS).scratch_bytes
}

/// The number that an entry loads into a register, of a grid's parameters.
fn number(module: &Module, grid: &Grid, register: &str) -> u64 {
    let text = entry_text(module, grid.entry);
    let at = between(&text, &format!(" {register}, [launch+"), "]");
    let is_wide = text.contains(&format!("ld.param.b64 {register},"));
    let mut bytes = [0; 8];
    let width = if is_wide { 8 } else { 4 };
    bytes[..width].copy_from_slice(&grid.params[at..][..width]);
    u64::from_le_bytes(bytes)
}

#[test]
fn a_contiguous_array_has_one_dimension() {
    let module = copy(DType::F32, 3);
    let strides = [300, 20, 1];
    let grids = prepare(&module, &launch(&[10, 15, 20], &strides, &strides));
    assert_eq!(grids.len(), 1);
    let extents = ["%extent1", "%extent2"].map(|name| number(&module, &grids[0], name));
    assert_eq!((extents, grids[0].block), ([1, 3000], [256, 1, 1]));
}

#[test]
fn dimensions_merge_where_every_parameter_allows_it() {
    let module = copy(DType::F32, 3);
    // The input's rows are padded, its planes are not: only the first two dimensions are one.
    let grids = prepare(&module, &launch(&[10, 15, 20], &[15 * 32, 32, 1], &[300, 20, 1]));
    let extents = ["%extent1", "%extent2"].map(|name| number(&module, &grids[0], name));
    assert_eq!(extents, [150, 20]);
}

#[test]
fn rows_that_lie_apart_are_visited_along_the_output() {
    let module = copy(DType::F32, 2);
    // The output is transposed: its fastest dimension is the first.
    let grids = prepare(&module, &launch(&[100, 50], &[51, 2], &[1, 100]));
    assert_eq!(module.entries[grids[0].entry].kind, "vector");
    assert_eq!(number(&module, &grids[0], "%extent1"), 100);
    assert_eq!(number(&module, &grids[0], "%step0_1"), 204);
}

#[test]
fn the_vector_entry_needs_contiguous_outputs() {
    let module = copy(DType::F32, 1);
    let entry = |input: i64, output: i64, n: usize| {
        module.entries[prepare(&module, &launch(&[n], &[input], &[output]))[0].entry].kind
    };
    assert_eq!([entry(1, 1, 100), entry(0, 1, 100), entry(3, 1, 100)], ["vector"; 3]);
    assert_eq!([entry(1, 2, 100), entry(1, 1, 7)], ["pointwise"; 2]);
}

/// Of two inputs only the first is transposed.
fn turned_and_straight() -> [u64; 2] {
    let mut k = Builder::new("both", 2);
    let (a, b, output) = (k.input(DType::F32), k.input(DType::F32), k.output(DType::F32));
    let (x, y) = (k.load(a, &[0, 0]), k.load(b, &[0, 0]));
    let sum = k.binary(BinaryOp::Add, x, y);
    let module = emit(&k.elementwise(&[(output, sum)]).unwrap(), &TARGET).unwrap();
    let mut launch = launch(&[64, 64], &[1, 64], &[64, 1]);
    launch.views.push(launch.views[1].clone());
    // In memory of its own: of the same, one input would be the other's mirror image.
    let memory = [1, 2, 3].map(|place| Span { address: place << 20, bytes: 1 << 14 });
    let grids = module.plan(&launch, &memory, FACTS).grids(0);
    ["%turned0", "%turned1"].map(|name| number(&module, &grids[0], name))
}

#[test]
fn a_transposed_input_makes_tiles() {
    let module = copy(DType::F32, 3);
    let grids = prepare(&module, &launch(&[20, 50, 90], &[1, 20, 1000], &[4500, 90, 1]));
    // y is the dimension along which the input lies, whichever it was.
    assert_eq!((module.entries[grids[0].entry].kind, grids[0].grid), ("transpose", [3, 1, 50]));
    assert_eq!((number(&module, &grids[0], "%turned0"), number(&module, &grids[0], "%extent1")), (1, 20));
    assert_eq!(turned_and_straight(), [1, 0]);
    let narrow = prepare(&module, &launch(&[3, 50, 90], &[1, 3, 150], &[4500, 90, 1]));
    assert_eq!(module.entries[narrow[0].entry].kind, "vector");
}

#[test]
fn more_points_than_32_bits_count_are_cut() {
    let module = copy(DType::U8, 1);
    let n = (1usize << 33) + 5;
    let grids = prepare(&module, &launch(&[n], &[1], &[1]));
    assert_eq!(grids.len(), 9);
    let points: u64 = grids.iter().map(|g| number(&module, g, "%extent0")).sum();
    assert_eq!(points, n as u64);
    assert_eq!(number(&module, &grids[8], "%start0"), 0x1_0000_0000 + (1 << 33));
    // Every point has a thread: 16 per vector, two vectors per thread.
    for grid in &grids {
        assert!(u64::from(grid.grid[0]) * 256 * 32 >= number(&module, grid, "%extent0"));
    }
}

#[test]
fn a_step_beyond_32_bits_is_taken_by_the_host() {
    let module = copy(DType::F64, 2);
    let far = 1i64 << 31;
    let grids = prepare(&module, &launch(&[3, 1000], &[far, 1], &[1000, 1]));
    assert_eq!(grids.len(), 3);
    let starts: Vec<u64> = grids.iter().map(|g| number(&module, g, "%start0")).collect();
    assert_eq!(starts, [0, 1, 2].map(|n| 0x1_0000_0000 + n * 8 * far as u64));
}

#[test]
fn many_rows_are_cut_at_the_limits_of_a_grid() {
    let module = copy(DType::F32, 4);
    let padded = |extents: &[usize; 4]| {
        let mut strides = [1i64; 4];
        for k in (0..3).rev() {
            strides[k] = strides[k + 1] * (extents[k + 1] as i64 + 1);
        }
        strides
    };
    for extents in [[3, 70_000, 3, 40], [2, 2, 300_000, 3], [70_000, 3, 1, 2], [300, 300, 2, 300]] {
        let strides = padded(&extents);
        let grids = prepare(&module, &launch(&extents, &strides, &strides));
        assert!(grids.len() <= 4, "{extents:?}: {} grids", grids.len());
        let threads: u64 = grids
            .iter()
            .flat_map(|g| g.grid.iter().chain(&g.block).map(|&n| u64::from(n)).reduce(|a, b| a * b))
            .sum();
        let points: usize = extents.iter().product();
        assert!(threads * 8 >= points as u64 && threads <= 40 * points as u64, "{extents:?}: {threads}");
    }
}

/// The sum of an array's elements at some offsets.
fn stencil(offsets: &[Vec<i32>]) -> Module {
    let mut k = Builder::new("stencil", offsets[0].len());
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let loads: Vec<_> = offsets.iter().map(|offsets| k.load(input, offsets)).collect();
    let sum = loads.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).unwrap();
    emit(&k.elementwise(&[(output, sum)]).unwrap(), &TARGET).unwrap()
}

#[test]
fn stencils_offer_streaming() {
    // Planes, each a copy of the body.
    let streaming = |offsets: &[Vec<i32>]| {
        let module = stencil(offsets);
        let entry = module.entries.iter().position(|entry| entry.kind == "streaming")?;
        Some(between(&entry_text(&module, entry), "// plane 0 of ", "\n"))
    };
    // What reads few neighbours goes by planes.
    for few in [star(1, 4), star(2, 1), star(3, 1), cube(2, 1), star(2, 2), star(3, 2)] {
        assert_eq!(streaming(&few), None);
    }
    assert_eq!(streaming(&cube(3, 1)), Some(5));
    // Shared memory has room for the planes between a column's newest and the present one, too.
    assert_eq!(streaming(&star(3, 4)), Some(8));
    // Five cubed is more than the registers hold.
    assert_eq!(streaming(&cube(3, 2)), None);
}

#[test]
fn stencils_of_few_neighbours_offer_planes() {
    let planes = |offsets: &[Vec<i32>]| {
        let module = stencil(offsets);
        let entry = module.entries.iter().position(|entry| entry.kind == "planes")?;
        let text = entry_text(&module, entry);
        Some(["setp.le.u32 %own", "nc.v4.f32", "bar.sync", "shfl"].map(|what| text.matches(what).count()))
    };
    // Planes, and rows that they read together: of 7 points their own, two more and two beside each.
    assert_eq!(planes(&star(3, 1)), Some([4, 14, 0, 0]));
    assert_eq!(planes(&star(2, 1)), Some([2, 4, 0, 0]));
    assert_eq!(planes(&cube(2, 1)), Some([2, 4, 0, 0]));
    assert_eq!(planes(&star(3, 2)), Some([2, 14, 0, 0]));
    for other in [star(1, 4), star(3, 4), cube(3, 1)] {
        assert_eq!(planes(&other), None);
    }
}

/// A launch of a stencil inside an array with one cell of halo, rows padded to whole vectors.
fn inside(extents: [usize; 3]) -> Launch {
    let pitch = (extents[2] as i64 + 2 + 31) / 32 * 32;
    let strides = [pitch * (extents[1] as i64 + 2), pitch, 1];
    launch(&extents, &strides, &strides)
}

/// Longer walks take blocks that run at the same time far apart in memory.
#[test]
fn walks_have_at_most_16_planes() {
    let kernel = weighted("star_25", DType::F32, &star(3, 4));
    let module = emit(&kernel, &TARGET).unwrap();
    let strides = [512 * 512, 512, 1];
    for planes in [100, 200, 250, 264, 504, 511, 600] {
        let mut launch = launch(&[planes, 504, 504], &strides, &strides);
        launch.views.iter_mut().for_each(|view| view.offset = 4 * strides.iter().sum::<i64>());
        launch.arguments = kernel.kernel().arguments.iter().map(|&d| Scalar::from_i64(d, 3)).collect();
        let grids = prepare(&module, &launch);
        assert_eq!((grids.len(), module.entries[grids[0].entry].kind), (1, "streaming"));
        let walk = number(&module, &grids[0], "%planes");
        assert!(walk <= 16 && walk * u64::from(grids[0].grid[2]) >= planes as u64, "{planes}: {walk}");
    }
}

#[test]
fn streaming_has_as_many_walks_as_fill_the_device() {
    let module = stencil(&cube(3, 1));
    let grids = prepare(&module, &inside([1000, 1000, 1000]));
    let shape = |grid: &Grid| (module.entries[grid.entry].kind, grid.grid, grid.block);
    // Walks so short that blocks that run together are near each other.
    assert_eq!((grids.len(), shape(&grids[0])), (1, ("streaming", [8, 125, 63], [32, 8, 1])));
    assert_eq!(number(&module, &grids[0], "%planes"), 16);
    let small = prepare(&module, &inside([128, 128, 128]));
    assert_eq!(
        (shape(&small[0]), number(&module, &small[0], "%planes")),
        (("streaming", [1, 16, 16], [32, 8, 1]), 8)
    );
    // Too few planes, too few points: all of them at once.
    for extents in [[7, 1000, 1000], [64, 64, 64]] {
        assert_eq!(module.entries[prepare(&module, &inside(extents))[0].entry].kind, "vector", "{extents:?}");
    }
}

#[test]
fn streaming_is_cut_at_the_limits_of_a_grid() {
    let module = stencil(&cube(3, 1));
    for extents in [[1 << 21, 8, 120], [30, 600_000, 120], [5_000_000, 7, 128]] {
        let grids = prepare(&module, &inside(extents));
        let points: u64 = grids
            .iter()
            .map(|g| {
                ["%extent0", "%extent1", "%extent2"]
                    .map(|name| number(&module, g, name))
                    .iter()
                    .product::<u64>()
            })
            .sum();
        assert_eq!(points, extents.iter().product::<usize>() as u64);
        for grid in &grids {
            let walks = u64::from(grid.grid[2]) * number(&module, grid, "%planes");
            assert!(walks >= number(&module, grid, "%extent0"), "{extents:?}");
        }
    }
    // A plane beyond what 32 bits count is no step of streaming.
    let far = 1i64 << 31;
    let grids = prepare(&module, &launch(&[100, 90, 80], &[far, 96, 1], &[far, 96, 1]));
    assert_eq!((grids.len(), module.entries[grids[0].entry].kind), (100, "vector"));
}

#[test]
fn empty_regions_need_no_grid_but_empty_folds_do() {
    assert!(prepare(&copy(DType::F32, 2), &launch(&[0, 5], &[5, 1], &[5, 1])).is_empty());
    let module = sum(&[true, false]);
    assert!(prepare(&module, &launch(&[5, 0], &[0, 1], &[0, 1])).is_empty());
    let grids = prepare(&module, &launch(&[0, 5], &[5, 1], &[0, 1]));
    assert_eq!((grids.len(), module.entries[grids[0].entry].kind), (1, "tree"));
    assert_eq!(number(&module, &grids[0], "%folded"), 0);
}

#[test]
fn a_small_fold_is_one_grid_and_a_large_one_fills_the_device() {
    let module = sum(&[true]);
    let small = launch(&[4000], &[1], &[0]);
    assert_eq!((prepare(&module, &small).len(), scratch_bytes(&module, &small)), (1, 0));
    let large = launch(&[1 << 28], &[1], &[0]);
    let grids = prepare(&module, &large);
    let entries: Vec<&str> = grids.iter().map(|g| module.entries[g.entry].kind).collect();
    assert_eq!(entries, ["fold_runs", "tree"]);
    // 8 groups of 1024 numbers for each of 8 warps.
    assert_eq!(grids[0].grid, [1, (1 << 28) / (8 * 1024 * 8), 1]);
    assert_eq!(scratch_bytes(&module, &large), 4096 * 4);
}

#[test]
fn short_rows_share_a_block() {
    let module = sum(&[false, true]);
    for (row, lanes, rows) in [(1, 1, 256), (64, 2, 128), (100, 4, 64), (1000, 32, 8), (100_000, 32, 1)] {
        let grids = prepare(&module, &launch(&[1000, row], &[row as i64, 1], &[1, 0]));
        // Too few long rows: several blocks to a row.
        let passes = if row == 100_000 { 2 } else { 1 };
        assert_eq!((grids.len(), grids[0].block), (passes, [256, 1, 1]), "{row}");
        assert_eq!(["%lanes", "%rows"].map(|name| number(&module, &grids[0], name)), [lanes, rows], "{row}");
    }
}

#[test]
fn a_fold_of_more_than_32_bits_count_is_cut_at_a_power_of_two() {
    let module = sum(&[true]);
    let n = (5usize << 30) + 3;
    let grids = prepare(&module, &launch(&[n], &[1], &[0]));
    let entries: Vec<&str> = grids.iter().map(|g| module.entries[g.entry].kind).collect();
    assert_eq!(entries, ["fold", "fold", "fold", "fold", "fold", "fold", "tree"]);
    for (at, grid) in grids[..6].iter().enumerate() {
        assert_eq!(number(&module, grid, "%start0"), 0x1_0000_0000 + ((at as u64) << 32));
        assert_eq!(number(&module, grid, "%first"), (at as u64) << 13);
    }
    assert_eq!(number(&module, &grids[5], "%folded"), 3);
}

#[test]
fn a_fold_too_long_for_coordinates_is_refused_if_rows_do_not_merge() {
    let module = sum(&[true, true]);
    let rows = |length: i64, pitch: i64| launch(&[2, length as usize], &[pitch, 1], &[0, 0]);
    let most = 1i64 << 31;
    assert_eq!(module.check(&rows(most, most + 5)), Ok(()));
    assert_eq!(module.check(&rows(most + 1, most + 1)), Ok(()));
    let error = module.check(&rows(most + 1, most + 5)).unwrap_err().to_string();
    assert!(error.contains("at most 2147483648 points") && error.contains("given 2147483649"), "{error}");
}

#[test]
fn neighbouring_threads_fold_neighbouring_memory() {
    let n = 4096;
    for (axes, strides, across) in [
        ([false, true], [n, 1], true),
        ([true, false], [n, 1], false),
        ([false, true], [1, n], false),
        ([true, false], [1, n], true),
    ] {
        let module = sum(&axes);
        let output = axes.map(|folded| i64::from(!folded));
        let grids = prepare(&module, &launch(&[n as usize; 2], &strides, &output));
        let lanes = number(&module, &grids[0], "%lanes");
        assert_eq!(lanes, if across { 32 } else { 1 }, "{axes:?} {strides:?}");
        assert_eq!(grids[0].block, [THREADS, 1, 1]);
    }
}

#[test]
fn too_many_parameters_are_refused() {
    let mut k = Builder::new("many", 8);
    let outputs: Vec<u32> = (0..120).map(|_| k.output(DType::F32)).collect();
    let value = k.float(DType::F32, 1.0);
    let stores: Vec<_> = outputs.into_iter().map(|o| (o, value)).collect();
    let refusal = emit(&k.elementwise(&stores).unwrap(), &TARGET).map(|_| ()).unwrap_err();
    assert!(refusal.to_string().starts_with("kernel many needs 4832 bytes"), "{refusal}");
}

#[test]
fn targets_follow_the_compute_capability() {
    let of = |major, minor| PtxTarget::of(major, minor).map(|t| t.sm);
    assert_eq!([of(7, 0), of(7, 2), of(6, 1)], [None; 3]);
    assert_eq!([of(7, 5), of(8, 0), of(8, 9), of(9, 0)], [75, 80, 80, 90].map(Some));
    assert_eq!([of(10, 0), of(10, 3), of(12, 0)], [Some(100); 3]);
}

#[test]
fn entries_are_named_after_their_kernels_and_stand_alone() {
    let module = copy(DType::F32, 2);
    let names: Vec<&str> = module.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert!(names[1].starts_with("vector_copy_f32_2d_1to1_"), "{names:?}");
    let mut all = std::collections::BTreeSet::new();
    for module in [module, copy(DType::F64, 2), copy(DType::F32, 3), sum(&[true, false]), sum(&[false, true])]
    {
        for (at, entry) in module.entries.iter().enumerate() {
            let text = module.text(at);
            assert_eq!(text.matches(".entry").count(), 1, "{text}");
            let program = simcuda::ptx::Program::parse(&text).unwrap();
            assert!(program.entry(&entry.name).is_some(), "{}", entry.name);
            assert!(all.insert(entry.name.clone()), "{}", entry.name);
        }
    }
}
