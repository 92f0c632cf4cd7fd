//! Pictures of distributions: text maps of every kind, and the SVG files of the documentation. Set
//! `UPDATE_GOLDEN=1` to write the files anew; then look at them.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use partita::index::{DimMap, Distribution, ErrorKind};

fn of(shape: &[i64]) -> partita::index::DistributionBuilder {
    Distribution::builder(shape)
}

/// What the documentation shows, by file name.
fn telling() -> Vec<(&'static str, Distribution)> {
    let lists = [vec![0, 1, 2, 9, 10], vec![3, 4, 8, 11, 12], vec![13, 5, 6, 7], vec![15, 14]];
    let shared = [vec![0, 1, 2, 3, 4], vec![3, 4, 5, 6, 7, 8], vec![7, 8, 9, 10, 11]];
    let all = vec![
        (
            "line-halo-boundary",
            of(&[24])
                .bounds(0, &[0, 8, 12, 17, 24])
                .boundary(&[2], &[1])
                .halo_per_part(0, &[(0, 1), (1, 2), (2, 3), (3, 0)]),
        ),
        ("line-periodic", of(&[16]).parts(4).halo(&[2], &[1]).periodic(&[true])),
        ("line-block-cyclic", of(&[23]).parts(3).cyclic(0, 3)),
        ("line-unstructured", of(&[16]).map(0, DimMap::unstructured(&lists, true).unwrap())),
        ("line-copies", of(&[12]).map(0, DimMap::unstructured(&shared, false).unwrap())),
        ("plane-halo-boundary", {
            let cut = of(&[15, 18]).bounds(0, &[0, 4, 11, 15]).bounds(1, &[0, 6, 11, 18]);
            cut.halo(&[1, 2], &[1, 2]).boundary(&[1, 1], &[1, 1])
        }),
        ("plane-cyclic", of(&[13, 17]).grid(&[2, 3]).cyclic(0, 3).cyclic(1, 2)),
        ("cube-slices", of(&[4, 8, 9]).grid(&[2, 2, 2]).cyclic(2, 2)),
    ];
    all.into_iter().map(|(name, builder)| (name, builder.build().unwrap())).collect()
}

#[test]
fn svg_files_of_the_documentation_are_what_the_code_draws() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/distributions");
    for (name, dist) in telling() {
        let (file, svg) = (folder.join(format!("{name}.svg")), dist.svg().unwrap());
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &svg).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(kept == svg, "{} differs: UPDATE_GOLDEN=1 writes it anew", file.display());
    }
}

/// The area of all boxes of one fill colour.
fn area(svg: &str, fill: &str) -> f64 {
    let number = |line: &str, key: &str| -> f64 {
        let text = line.split(&format!(" {key}=\"")).nth(1).unwrap();
        text.split('"').next().unwrap().parse().unwrap()
    };
    let boxes = svg.lines().filter(|line| line.starts_with("<rect x=") && line.contains(fill));
    boxes.map(|line| number(line, "width") * number(line, "height")).sum()
}

#[test]
fn svg_areas_are_the_counts_of_the_parts() {
    let dist = of(&[13, 12]).grid(&[2, 3]).cyclic(0, 3).cyclic(1, 2).build().unwrap();
    let svg = dist.svg().unwrap();
    // Cells are 36 pixels wide.
    let colours = ["#8fbcd9", "#f4b183", "#a9d18e", "#f4a6a6", "#c5b0d5", "#d9c48f"];
    for (part, colour) in colours.into_iter().enumerate() {
        let cells = area(&svg, colour) / (36.0 * 36.0);
        assert_eq!(cells.round() as i64, dist.owned(part).volume().unwrap(), "part {part}");
    }
    let halo = of(&[9, 9]).grid(&[3, 3]).halo(&[1, 1], &[1, 1]).boundary(&[1, 0], &[0, 2]).build().unwrap();
    let svg = halo.svg().unwrap();
    let cells = |fill: &str| (area(&svg, fill) / (36.0 * 36.0)).round() as i64;
    assert_eq!((cells("url(#hatch"), cells("fill-opacity")), (25 - 9, 9 + 8 * 2));
}

#[test]
fn svg_refuses_what_it_cannot_draw() {
    let kind = |dist: Distribution| dist.svg().unwrap_err().kind;
    assert_eq!(kind(of(&[]).build().unwrap()), ErrorKind::Unsupported);
    assert_eq!(kind(of(&[2, 2, 2, 2]).build().unwrap()), ErrorKind::Unsupported);
    assert_eq!(kind(of(&[1 << 20]).parts(4).cyclic(0, 1).build().unwrap()), ErrorKind::Unsupported);
    assert!(of(&[1 << 40]).parts(4).build().unwrap().svg().is_ok());
    assert!(of(&[0, 3]).parts(4).build().unwrap().svg().is_ok());
}

fn map(dist: &Distribution) -> Vec<String> {
    dist.to_string().lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn text_maps_draw_every_kind() {
    assert_eq!(map(&of(&[10]).parts(3).cyclic(0, 2).build().unwrap()), ["0011220011"]);
    let lists = DimMap::unstructured(&[vec![4, 0], vec![1, 3, 2]], true).unwrap();
    let mixed = of(&[4, 5]).grid(&[2, 2]).cyclic(0, 1).map(1, lists).build().unwrap();
    assert_eq!(map(&mixed), ["01110", "23332", "01110", "23332"]);
    assert!(mixed.to_string().lines().next().unwrap().ends_with(", maps (cyclic 1, unstructured)"));
    assert_eq!(map(&of(&[2, 3]).grid(&[2, 2]).replicated(1).build().unwrap()), ["000", "222"]);
    let cube = of(&[2, 2, 3]).grid(&[2, 1, 3]).build().unwrap();
    assert_eq!(map(&cube), ["slice (0):", "012", "012", "slice (1):", "345", "345"]);
}
