//! The protocol's rules, one by one.

use partita::index::{DimMap, Distribution};
use partita_interop::distarray::{
    Kind, PartDescription, VERSION, parse_all, to_distribution, validate, validate_dim_data,
};
use partita_interop::value::{Buffer, Dict, Refusal, Value};

use crate::malformed::put;
use crate::published::{b, c, dim, padded, part, u};
use crate::round_trips::{export, there_and_back};

fn refused(parts: &[Value]) -> Refusal {
    parse_all(parts).unwrap_err()
}

/// The parts of one dimension, with the extents of their buffers.
fn line(dims: &[(Value, i64)]) -> Vec<Value> {
    dims.iter().map(|(dim, extent)| part(&[*extent], std::slice::from_ref(dim))).collect()
}

fn import(parts: &[Value]) -> Distribution {
    to_distribution(&parse_all(parts).unwrap_or_else(|e| panic!("{e}"))).unwrap()
}

#[test]
fn a_description_has_exactly_three_keys() {
    let value = part(&[4], &[b((0, 1), 4, 0, 4)]);
    assert!(validate(&value).0);
    let written =
        PartDescription::parse(&value).unwrap().to_value(Value::Buffer(Buffer::contiguous(&[4], "d", 8)));
    let Value::Dict(Dict(entries)) = &written else { panic!("no dict") };
    assert_eq!(entries.len(), 3);
    let mut more = value.clone();
    put(&mut more, "device", "kDLCUDA:0".into());
    let refusal = PartDescription::parse(&more).unwrap_err();
    assert_eq!(refusal.path, "device");
}

#[test]
fn other_minor_versions_are_accepted_and_other_major_versions_rejected() {
    for (version, valid) in
        [("0.10.0", true), ("0.9.0", true), ("0.99.1", true), ("1.0.0", false), ("2.10.0", false)]
    {
        assert_eq!(validate(&crate::published::part_of(version, &[], &[])).0, valid, "{version}");
    }
    assert_eq!(VERSION, [0, 10, 0]);
}

#[test]
fn a_description_without_dimensions_is_a_scalar() {
    let dist = import(&[part(&[], &[])]);
    assert_eq!((dist.rank(), dist.parts(), dist.global().volume().unwrap()), (0, 1, 1));
    assert_eq!(there_and_back(&dist), dist);
    let dist = import(&[part(&[5, 9], &[b((0, 1), 5, 0, 5), Value::Dict(Dict::default())])]);
    assert_eq!(dist.global().volume().unwrap(), 45);
}

#[test]
fn process_ranks_are_grid_positions_in_c_order() {
    let cell = |i: i64, j: i64| part(&[1, 1], &[b((i, 2), 2, i, i + 1), b((j, 2), 2, j, j + 1)]);
    assert!(parse_all(&[cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)]).is_ok());
    let fortran = refused(&[cell(0, 0), cell(1, 0), cell(0, 1), cell(1, 1)]);
    assert_eq!((fortran.path.as_str(), fortran.part), ("dim_data[0]['proc_grid_rank']", Some(1)));
}

#[test]
fn blocks_are_adjacent_and_fill_their_buffers() {
    let bounds = |cuts: &[(i64, i64)]| -> Vec<(Value, i64)> {
        let n = cuts.len() as i64;
        cuts.iter().enumerate().map(|(i, &(a, z))| (b((i as i64, n), 9, a, z), z - a)).collect()
    };
    assert_eq!(
        import(&line(&bounds(&[(0, 1), (1, 7), (7, 9)]))).map(0),
        &DimMap::irregular(&[0, 1, 7, 9]).unwrap()
    );
    let gap = refused(&line(&bounds(&[(0, 1), (2, 7), (7, 9)])));
    assert_eq!(
        gap.to_string(),
        "__distarray__ of part 1: dim_data[0]['start']: expected that part 1 owns from 1 on; given from 2 \
         on, which leaves a gap"
    );
    assert!(refused(&line(&bounds(&[(0, 3), (2, 7), (7, 9)]))).reason.contains("an overlap"));
    let short = refused(&line(&[(b((0, 1), 9, 0, 9), 8)]));
    assert_eq!(
        short.to_string(),
        "__distarray__ of part 0: buffer: expected extent 9 in dimension 0, as dim_data[0] says; given \
         shape [8]"
    );
}

/// Four parts of three cells each, with these paddings.
fn four(paddings: [(i64, i64); 4], periodic: bool) -> Vec<Value> {
    let owned = |rank: i64| (3 * rank + 4, 3 * rank + 7);
    let dim = |rank: usize| {
        let ((lo, hi), (start, stop)) = (paddings[rank], owned(rank as i64));
        // The boundary on the left takes 4 indices, that on the right what its width says.
        let start = if rank == 0 { 0 } else { start - lo };
        let stop = if rank == 3 { stop } else { stop + hi };
        (padded((rank as i64, 4), 16, (start, stop), (lo, hi), periodic), stop - start)
    };
    line(&(0..4).map(dim).collect::<Vec<_>>())
}

#[test]
fn the_padding_example_of_the_protocol() {
    let dist = import(&four([(4, 1), (1, 2), (2, 3), (3, 0)], false));
    assert_eq!((dist.shape()[0], dist.boundary().0[0], dist.boundary().1[0]), (16, 4, 0));
    let stored: Vec<(i64, i64)> =
        (0..4).map(|part| (dist.stored(part).start()[0], dist.stored(part).stop()[0])).collect();
    assert_eq!(stored, [(0, 8), (6, 12), (8, 16), (10, 16)]);
    let paddings: Vec<(i64, i64)> = export(&dist)
        .iter()
        .map(|part| match part.dims[0].kind {
            Kind::Block { padding, .. } => padding,
            _ => panic!("no block"),
        })
        .collect();
    assert_eq!(paddings, [(4, 1), (1, 2), (2, 3), (3, 0)]);
    let uneven = refused(&four([(4, 1), (2, 2), (2, 3), (3, 0)], false));
    assert_eq!((uneven.path.as_str(), uneven.part), ("dim_data[0]['padding']", Some(1)));
    assert_eq!(uneven.reason, "expected width 1 at the beginning, as at the end of part 0; given 2");
}

#[test]
fn padding_wider_than_the_neighbour_is_rejected() {
    assert!(parse_all(&four([(4, 3), (3, 3), (3, 3), (3, 0)], false)).is_ok());
    let wide = refused(&four([(4, 3), (3, 4), (4, 3), (3, 0)], false));
    assert_eq!(
        (wide.path.as_str(), wide.reason.as_str()),
        ("dim_data[0]['padding']", "expected at most 3, what part 1 owns; given 4")
    );
    assert_eq!(wide.part, Some(2));
}

#[test]
fn periodic_dimensions_of_several_parts_and_of_one() {
    let dist = Distribution::builder(&[8]).parts(2).halo(&[1], &[1]).periodic(&[true]).build().unwrap();
    let said: Vec<(i64, i64, i64)> = export(&dist)
        .iter()
        .map(|part| match part.dims[0].kind {
            Kind::Block { start, stop, padding: (1, 1), periodic: true } => (part.dims[0].size, start, stop),
            _ => panic!("{part:?}"),
        })
        .collect();
    // 8 cells, and a copy at either end.
    assert_eq!(said, [(10, 0, 6), (10, 4, 10)]);
    assert_eq!(there_and_back(&dist), dist);
    let alone = Distribution::builder(&[6]).halo(&[2], &[2]).periodic(&[true]).build().unwrap();
    assert_eq!(import(&[part(&[10], &[padded((0, 1), 10, (0, 10), (2, 2), true)])]), alone);
    let wide = refused(&[part(&[10], &[padded((0, 1), 10, (0, 10), (4, 4), true)])]);
    assert_eq!(
        (wide.path.as_str(), wide.reason.as_str()),
        ("dim_data[0]['padding']", "expected at most 2, what part 0 owns; given 4")
    );
    assert!(
        parse_all(&[part(&[4], &[b((0, 1), 4, 0, 4)])]).unwrap()[0].dims.iter().all(|dim| !dim.periodic())
    );
    // Part 0 holds 2 copies of the other end and owns nothing; parts that own nothing store nothing here.
    let dims = [padded((0, 2), 6, (0, 2), (2, 0), true), padded((1, 2), 6, (2, 6), (0, 0), true)];
    let parts = parse_all(&[part(&[2], &dims[..1]), part(&[4], &dims[1..])]).unwrap();
    let refusal = to_distribution(&parts).unwrap_err();
    assert_eq!(
        (refusal.path.as_str(), refusal.reason.starts_with("not supported here")),
        ("dim_data[0]['padding']", true)
    );
}

#[test]
fn cyclic_parts_hold_the_blocks_dealt_in_turn() {
    for (size, block, parts) in (0..20).flat_map(|s| (1..5).flat_map(move |b| (1..5).map(move |p| (s, b, p))))
    {
        let dealt = |rank: i64| (0..size).filter(move |i| i / block % parts == rank);
        let dims: Vec<(Value, i64)> = (0..parts)
            .map(|rank| (c((rank, parts), size, (rank * block).min(size), block), dealt(rank).count() as i64))
            .collect();
        let dist = import(&line(&dims));
        assert_eq!(dist.map(0), &DimMap::cyclic(size, parts as usize, block).unwrap());
    }
    // The published count gives 3 and 0.
    assert_eq!(
        import(&line(&[(c((0, 2), 3, 0, 2), 2), (c((1, 2), 3, 2, 2), 1)])).owned_set(1).unwrap()[0].len(),
        1
    );
    // Blocks beyond the size are all alike; here the second part has the only one.
    let huge = line(&[(c((0, 2), 5, 5, 1 << 62), 0), (c((1, 2), 5, 0, 1 << 62), 5)]);
    assert_eq!(import(&huge).owned_set(1).unwrap()[0].len(), 5);
    let default = dim("c", (0, 1), 4, &[("start", 0.into())]);
    assert_eq!(import(&line(&[(default, 4)])).map(0), &DimMap::even(4, 1).unwrap());
}

#[test]
fn unstructured_lists_with_any_labels_and_with_copies() {
    let names = import(&line(&[(u((0, 2), 4, &[40, -7]), 2), (u((1, 2), 4, &[1 << 40, -8]), 2)]));
    let held: Vec<i64> = names.owned_set(0).unwrap()[0].iter().collect();
    assert_eq!((names.shape()[0], held), (4, vec![2, 1]));
    // Index 2 is in both lists: part 0 owns it. The size may count it once or twice.
    for size in [3, 4] {
        let copies = import(&line(&[(u((0, 2), size, &[0, 2]), 2), (u((1, 2), size, &[2, 1]), 2)]));
        assert_eq!(
            (copies.shape()[0], copies.owner(&[2]).unwrap(), copies.holders(&[2]).unwrap()),
            (3, 0, vec![0, 1])
        );
    }
    let promised = |rank: i64, list: &[i64]| {
        let mut dim = u((rank, 2), 3, list);
        put(&mut dim, "one_to_one", true.into());
        (dim, list.len() as i64)
    };
    assert!(parse_all(&line(&[promised(0, &[0, 2]), promised(1, &[1])])).is_ok());
    let twice = refused(&line(&[promised(0, &[0, 2]), promised(1, &[2])]));
    assert_eq!((twice.path.as_str(), twice.part), ("dim_data[0]['indices']", Some(1)));
}

#[test]
fn empty_entries_and_grids_of_one_are_undistributed() {
    let whole = Distribution::builder(&[6]).build().unwrap();
    let ways = [
        Value::Dict(Dict::default()),
        b((0, 1), 6, 0, 6),
        c((0, 1), 6, 0, 4),
        u((0, 1), 6, &[0, 1, 2, 3, 4, 5]),
    ];
    for way in ways {
        let dist = import(&line(&[(way, 6)]));
        assert_eq!((dist.parts(), dist.owned(0)), (1, whole.owned(0)));
    }
    assert!(validate(&part(&[6], &[Value::Dict(Dict::default())])).0);
    // Of an undistributed dimension, one description tells everything.
    let wrong =
        [(u((0, 1), 7, &[0, 1]), 2), (c((0, 1), 6, 6, 1), 0), (padded((0, 1), 6, (0, 6), (3, 2), true), 6)];
    for (dim, extent) in wrong {
        let refusal = PartDescription::parse(&part(&[extent], &[dim])).unwrap_err();
        assert!(refusal.part.is_none() && refusal.path.starts_with("dim_data[0]['"), "{refusal}");
    }
}

#[test]
fn empty_parts_in_all_map_kinds() {
    let three = [
        line(&[(b((0, 2), 0, 0, 0), 0), (b((1, 2), 0, 0, 0), 0)]),
        line(&[(b((0, 2), 3, 0, 3), 3), (b((1, 2), 3, 3, 3), 0)]),
        line(&[(c((0, 2), 1, 0, 1), 1), (c((1, 2), 1, 1, 1), 0)]),
        line(&[(b((0, 3), 4, 0, 2), 2), (b((1, 3), 4, 2, 2), 0), (b((2, 3), 4, 2, 4), 2)]),
        line(&[(u((0, 2), 2, &[1, 0]), 2), (u((1, 2), 2, &[]), 0)]),
        line(&[(c((0, 3), 1, 0, 1), 1), (c((1, 3), 1, 1, 1), 0), (c((2, 3), 1, 2, 1), 0)]),
    ];
    for parts in three {
        let dist = import(&parts);
        assert!((0..dist.parts()).any(|part| dist.owned(part).is_empty()));
    }
}

#[test]
fn adjacent_parts_must_agree_except_on_their_boundary() {
    let cell = |i: i64, j: i64, lo: i64| {
        part(
            &[2, 2],
            &[padded((i, 2), 4, (2 * i, 2 * i + 2), (lo, 0), false), b((j, 2), 4, 2 * j, 2 * j + 2)],
        )
    };
    assert!(parse_all(&[cell(0, 0, 1), cell(0, 1, 1), cell(1, 0, 0), cell(1, 1, 0)]).is_ok());
    // The text allows boundaries of different widths; distributions have one.
    let parts = parse_all(&[cell(0, 0, 1), cell(0, 1, 2), cell(1, 0, 0), cell(1, 1, 0)]).unwrap();
    let refusal = to_distribution(&parts).unwrap_err();
    assert_eq!((refusal.path.as_str(), refusal.part), ("dim_data[0]['padding']", Some(1)));
    let other = part(&[1, 2], &[b((1, 2), 4, 3, 4), b((1, 2), 4, 2, 4)]);
    let refusal = refused(&[cell(0, 0, 0), cell(0, 1, 0), cell(1, 0, 0), other]);
    assert_eq!((refusal.path.as_str(), refusal.part), ("dim_data[0]['start']", Some(3)));
}

#[test]
fn neighbours_follow_from_one_description() {
    let periodic = [false, true, true];
    let dist = Distribution::builder(&[8, 9, 4]).grid(&[2, 3, 1]).periodic(&periodic).build().unwrap();
    for (part, said) in export(&dist).iter().enumerate() {
        assert_eq!(said.neighbors().unwrap(), dist.neighbors(part).unwrap());
    }
    let mut large = export(&dist).remove(0);
    large.dims.iter_mut().for_each(|dim| dim.grid_size = 1 << 40);
    assert!(large.neighbors().is_err());
}

#[test]
fn entries_are_validated_without_a_buffer() {
    let (good, empty) = (b((1, 2), 6, 3, 6), Value::Dict(Dict::default()));
    let said =
        |dims: &[&Value]| validate_dim_data(&Value::Tuple(dims.iter().map(|&dim| dim.clone()).collect()));
    for well_formed in [&[][..], &[&empty], &[&good], &[&empty, &good]] {
        assert_eq!(said(well_formed), (true, String::new()));
    }
    let wrong = b((1, 2), 6, 3, 7);
    let (fine, reason) = said(&[&good, &wrong]);
    assert!(!fine && reason.starts_with("__distarray__: dim_data[1]['stop']: expected"), "{reason}");
    assert!(!validate_dim_data(&Value::List(vec![good.clone()])).0 && !validate_dim_data(&good).0);
}

#[test]
fn distributions_beyond_the_protocol_are_rejected_by_all_parts_alike() {
    let line = || Distribution::builder(&[9]).parts(3);
    let unsaid = [
        (line().boundary(&[4], &[0]), "dim_data[0]['padding']"),
        (line().cyclic(0, 1).periodic(&[true]), "dim_data[0]"),
        (line().cyclic(0, 1).boundary(&[1], &[0]), "dim_data[0]"),
    ];
    for (builder, path) in unsaid {
        let dist = builder.build().unwrap();
        for part in 0..3 {
            let refusal = PartDescription::from_distribution(&dist, part).unwrap_err();
            assert_eq!(refusal.path, path, "{refusal}");
        }
    }
    let dist = line().boundary(&[4], &[0]).build().unwrap();
    assert_eq!(
        PartDescription::from_distribution(&dist, 0).unwrap_err().reason,
        "expected padding of at most 3, what grid rank 0 stores; given 4; declare a narrower boundary, or \
         redistribute to fewer and larger parts"
    );
    assert!(PartDescription::from_distribution(&dist, 3).is_err());
}

#[test]
fn exported_padding_is_the_width_that_both_sides_have() {
    let line = || Distribution::builder(&[9]).parts(3);
    let said = |builder: partita::index::DistributionBuilder| -> Vec<((i64, i64), i64)> {
        let dist = builder.build().unwrap();
        let one = |part| {
            let Kind::Block { padding, .. } =
                PartDescription::from_distribution(&dist, part).unwrap().dims[0].kind
            else {
                panic!("no block")
            };
            (padding, PartDescription::window(&dist, part).unwrap().extent(0))
        };
        (0..3).map(one).collect()
    };
    assert_eq!(said(line().halo(&[1], &[0])), [((0, 0), 3), ((0, 0), 3), ((0, 0), 3)]);
    assert_eq!(said(line().halo(&[2], &[1])), [((0, 1), 4), ((1, 1), 5), ((1, 0), 4)]);
    // A part that owns nothing has no halo; its neighbours' reach beyond it, which the protocol cannot say.
    let empty = line().bounds(0, &[0, 4, 4, 9]).halo(&[1], &[1]);
    assert_eq!(said(empty), [((0, 0), 4), ((0, 0), 0), ((0, 0), 5)]);
    // The ends of a ring are no seam in the protocol's sense.
    let ring = line().halo(&[2], &[1]).periodic(&[true]);
    assert_eq!(said(ring), [((2, 1), 6), ((1, 1), 5), ((1, 1), 5)]);
}

#[test]
fn eight_dimensions_are_imported_and_nine_are_valid_but_not_supported() {
    let parts = |rank: usize| [part(&vec![1; rank], &vec![b((0, 1), 1, 0, 1); rank])];
    assert_eq!(import(&parts(8)).rank(), 8);
    let nine = parse_all(&parts(9)).unwrap();
    assert!(to_distribution(&nine).unwrap_err().reason.starts_with("not supported here"));
}
