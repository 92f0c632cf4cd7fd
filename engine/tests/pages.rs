//! Pages of the documentation that show plans and steps: written by the code they describe. Set
//! `UPDATE_GOLDEN=1` to write it anew; then read it.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::path::PathBuf;

use partita::plan::Plan;
use partita::prelude::*;
use partita::transport::{Field, lower};

const HEAD: &str = "# Four plans, explained

A plan lists the moves of one exchange. A move copies (or adds) a box of cells, or a strided or listed subset
of a box, from one part to another. Boxes are in packed coordinates; for block distributions these are the
global ones. `Plan::explain` counts the bytes per link.
`transport::lower` turns a plan into commands and reports the transport of each message. In these examples
the four parts alternate between two host devices, so some pairs of parts share a device.

A test writes this page.
";

/// A section: what it is, the plan, its links, and how it is carried out on two devices.
fn section(title: &str, text: &str, plan: &Plan, from: &Array, to: &Array) -> String {
    let (here, there) = (from.places().unwrap(), to.places().unwrap());
    let field = Field { plan, from: &here, to: &there, dtype: from.dtype() };
    let exchange = lower(&[field]).unwrap();
    let moves: Vec<String> = plan.to_string().lines().take(9).map(str::to_owned).collect();
    let more = plan.moves().len().saturating_sub(8);
    let mut out = format!("\n## {title}\n\n{text}\n\n```text\n{}\n", moves.join("\n"));
    if more > 0 {
        writeln!(out, "  and {more} more moves").unwrap();
    }
    let explanation = plan.explain(from.dtype().size_bytes());
    write!(out, "\nexplain: {explanation}\n\ncarried out: {exchange}\n```\n").unwrap();
    out
}

fn page() -> String {
    let devices = [Device::host(), Device::host()];
    let team = Team::of((0..4).map(|member| devices[member % 2].clone()).collect()).unwrap();
    let zeros = |team: &Team, dist: &Distribution| Array::zeros(team, dist, DType::F32).unwrap();
    let halo = Distribution::builder(&[8, 8]).grid(&[2, 2]).halo(&[1, 1], &[1, 1]).periodic(&[true, true]);
    let halo = halo.build().unwrap();
    let u = zeros(&team, &halo);
    let mut page = HEAD.to_owned();
    page += &section(
        "A halo of one cell on a torus of 2 x 2 parts",
        "Every part receives faces and corners from their owners. Both dimensions are periodic, so parts at \
         the edge of the array receive cells of the opposite edge.",
        &Plan::halo(&halo, true).unwrap(),
        &u,
        &u,
    );
    let block = Distribution::builder(&[64]).grid(&[4]).build().unwrap();
    let cyclic = Distribution::builder(&[64]).grid(&[4]).cyclic(0, 2).build().unwrap();
    page += &section(
        "Blocks to block-cyclic with blocks of two",
        "The cells that two parts have in common are two runs of two cells, 8 apart. One move takes both \
         runs.",
        &Plan::redistribute(&block, &cyclic).unwrap(),
        &zeros(&team, &block),
        &zeros(&team, &cyclic),
    );
    let slabs = Distribution::builder(&[8, 8, 8]).grid(&[4, 1, 1]).build().unwrap();
    let pencils = Distribution::builder(&[8, 8, 8]).grid(&[2, 2, 1]).build().unwrap();
    page += &section(
        "Slabs to pencils",
        "The redistribution before a Fourier transform along the last dimension. Each part exchanges cells \
         with one other.",
        &Plan::redistribute(&slabs, &pencils).unwrap(),
        &zeros(&team, &slabs),
        &zeros(&team, &pencils),
    );
    let world = Partition::world(&team).unwrap();
    let (row, all) = (world.inclusive(&[0, 1]).unwrap(), world.cartesian(&[2, 2]).unwrap());
    let row = row.cartesian(&[1, 2]).unwrap();
    let x = zeros(&row.team().unwrap(), &Distribution::builder(&[3, 6]).grid(&[1, 2]).build().unwrap());
    let broadcast = Collective::broadcast(&row, &all).unwrap();
    page += &section(
        "A broadcast from 1 x 2 to 2 x 2 members",
        "The root of each column sends its block to all members of the column, itself included. The adjoint \
         sums the blocks of a column onto its root.",
        &broadcast.plans(&x.distribution().unwrap()).unwrap()[0],
        &x,
        &broadcast.forward(&x).unwrap(),
    );
    page
}

const EXPLAINED: &str = "# What runs, explained

`explain` prints what computing an array will do, and computes nothing: the plans by which elements travel,
with the bytes of every link between parts, and the kernels that read them. It prints the steps that lowering
makes, which are what runs; a test compares the bytes with those that ranks send. The cells that need nothing
of what travels, the core, are computed meanwhile.

`u` is an array of 12 x 12 f32 whose rows are divided among three parts, each on a device of its own, `v` one
whose columns are; `line` is a column of `u`, `indices` are of i32. Each section begins with new arrays, whose
memory has no room for halos: where a kernel reads one, the array is copied to wider memory first, once.

A test writes this page.
";

/// Code, the array that it makes, and what is said of it.
macro_rules! explained {
    ($page:ident, $title:literal, $code:expr) => {
        let code = stringify!($code).split_whitespace().collect::<Vec<_>>().join(" ");
        let said = $code.explain().unwrap();
        write!($page, "\n## {}\n\n`{code}`\n\n```text\n{said}\n```\n", $title).unwrap();
    };
}

fn explained() -> String {
    let team = Team::of((0..3).map(|_| Device::host()).collect()).unwrap();
    let on = |grid: &[i64]| {
        let dist = Distribution::builder(&[12, 12]).grid(grid).build().unwrap();
        Array::from_fn(&team, &dist, |at| (at[0] * 5 + at[1] * 7) as f32).unwrap()
    };
    let (u, v) = (on(&[3, 1]), on(&[1, 3]));
    let columns = v.distribution().unwrap();
    let mut page = EXPLAINED.to_owned();
    explained!(page, "A stencil", u.slice(&s![2..]) - u.slice(&s![1..-1]) * 2 + u.slice(&s![..-2]));
    explained!(page, "Operands that are divided differently", &u * &v);
    explained!(page, "A reduction, and a kernel that needs it", &u / (&u * &u).sum(&[]).sqrt());
    explained!(page, "A scan along the axis that is divided", u.cumulative_sum(0));
    explained!(page, "A sort", v.sort(1, false));
    explained!(page, "Elements by their number", u.gather(&[4], &[143, 0, 77, 12]));
    explained!(page, "Another shape", v.reshape(&[144]));
    explained!(page, "Pieces side by side", Array::concatenate(&[&u, &v], 0));
    explained!(page, "Another distribution", u.redistribute(&columns));
    explained!(page, "A Fourier transform of 12 x 6 pairs", u.reshape(&[12, 6, 2]).fft(&[0, 1]));
    let twice = u.slice(&s![2..]) + u.slice(&s![..-2]);
    explained!(page, "An assignment to a window, as a value", u.updated(&s![1..-1], &twice));
    explained!(page, "An assignment in steps", u.updated(&s![..; 3, ..], &v.slice(&s![..4, ..])));
    let (line, indices) = (on(&[3, 1]).slice(&s![.., 0]), (&v.slice(&s![0, ..]) % 12.0).cast(DType::I32));
    explained!(page, "Elements at an array of indices", line.take(&indices).unwrap());
    explained!(page, "Elements that a mask keeps", line.compress(&line.less(30.0)).unwrap());
    let world = Partition::world(&team).unwrap().cartesian(&[3, 1]).unwrap();
    let sums = Collective::all_sum_reduce(&world, &[0]).unwrap();
    explained!(page, "A sum over all members, as DistDL has it", sums.forward(&u).unwrap());
    let pair = Team::of((0..2).map(|_| Device::host()).collect()).unwrap();
    let halves = Distribution::builder(&[12, 12]).grid(&[2, 1]).build().unwrap();
    explained!(page, "An array on another team", u.move_to(&pair, &halves));
    explained!(
        page,
        "Several at once",
        (u.cumulative_sum(0).redistribute(&columns) + &v).sort(0, false).sum(&[1]) / u.max(&[])
    );
    page
}

#[test]
fn pages_are_what_the_code_says() {
    for (name, page) in [("plans.md", page()), ("explain.md", explained())] {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &page).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(kept == page, "{} differs: UPDATE_GOLDEN=1 writes it anew", file.display());
    }
}
