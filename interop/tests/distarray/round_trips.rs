//! Distribution -> descriptions -> Python's terms -> descriptions -> distribution, for every kind of map.

use partita::index::{DimMap, Distribution, Region};
use partita_interop::distarray::{Kind as Said, PartDescription, parse_all, to_distribution};
use partita_interop::value::{Buffer, Value};
use proptest::prelude::*;

#[path = "../../../engine/tests/kinds/mod.rs"]
mod kinds;
use kinds::{Kind, mixed};

pub fn export(dist: &Distribution) -> Vec<PartDescription> {
    (0..dist.parts()).map(|part| PartDescription::from_distribution(dist, part).unwrap()).collect()
}

/// Out to Python's terms and back; what comes back is what went.
pub fn there_and_back(dist: &Distribution) -> Distribution {
    let parts = export(dist);
    let value =
        |part: &PartDescription| part.to_value(Value::Buffer(Buffer::contiguous(&part.shape(), "d", 8)));
    let values: Vec<Value> = parts.iter().map(value).collect();
    let read = parse_all(&values).unwrap();
    for (part, (a, b)) in parts.iter().zip(&read).enumerate() {
        assert_eq!((&a.dims, a.version), (&b.dims, b.version), "part {part}");
        let stored = PartDescription::window(dist, part).unwrap();
        assert!(dist.stored(part).contains_region(&stored) && stored.contains_region(&dist.owned(part)));
        // An empty part has padding in no dimension here, and in the protocol that of the parts beside it.
        let shape = a.shape();
        assert!(shape == stored.extents().to_vec() || (stored.is_empty() && shape.contains(&0)));
    }
    to_distribution(&read).unwrap()
}

fn same(a: &Distribution, b: &Distribution) {
    assert_eq!((a.shape(), a.grid(), a.boundary()), (b.shape(), b.grid(), b.boundary()));
    for part in 0..a.parts() {
        let sets = |dist: &Distribution| -> Vec<Vec<i64>> {
            dist.owned_set(part).unwrap().iter().map(|set| set.iter().collect()).collect()
        };
        assert_eq!((sets(a), PartDescription::window(a, part).unwrap()), (sets(b), b.stored(part)));
    }
    assert!((0..a.rank()).all(|d| a.periodic(d) == b.periodic(d)));
}

proptest! {
    #[test]
    fn maps_of_every_kind_survive_a_round_trip(kinds in mixed()) {
        let shape: Vec<i64> = kinds.iter().map(Kind::size).collect();
        let builder = Distribution::builder(&shape);
        let builder = kinds.iter().enumerate().fold(builder, |b, (d, kind)| b.map(d, kind.build()));
        let dist = builder.build().unwrap();
        let back = there_and_back(&dist);
        same(&dist, &back);
        for (d, kind) in kinds.iter().enumerate() {
            // A replicated map comes back as lists that hold everything.
            if !matches!(kind, Kind::Replicated(..)) {
                prop_assert_eq!(back.map(d), dist.map(d));
            }
        }
    }

    #[test]
    fn slices_and_strided_views_survive_a_round_trip(
        kinds in mixed(), cuts in prop::collection::vec((0..30i64, 0..30i64, 1..5i64), 4)
    ) {
        let shape: Vec<i64> = kinds.iter().map(Kind::size).collect();
        let builder = Distribution::builder(&shape);
        let builder = kinds.iter().enumerate().fold(builder, |b, (d, kind)| b.map(d, kind.build()));
        let cut = |d: usize| {
            let (a, b, _) = cuts[d];
            (a.min(b).min(shape[d]), a.max(b).min(shape[d]))
        };
        let (starts, stops): (Vec<i64>, Vec<i64>) = (0..shape.len()).map(cut).unzip();
        let steps: Vec<i64> = cuts[..shape.len()].iter().map(|cut| cut.2).collect();
        let slice = Region::new(&starts, &stops).unwrap();
        let view = builder.build().unwrap().strided(&slice, &steps).unwrap();
        same(&view, &there_and_back(&view));
    }

    #[test]
    fn halos_boundaries_and_periodic_dimensions_survive_a_round_trip_or_are_rejected_by_all_parts(
        counts in prop::collection::vec(0..6i64, 1..5), seams in prop::collection::vec(0..4i64, 5),
        boundary in (0..3i64, 0..3i64), periodic in any::<bool>(), beside in 1..4usize, uneven in 0..2i64,
    ) {
        let bounds: Vec<i64> = counts.iter().scan(0, |sum, n| { *sum += n; Some(*sum) }).collect();
        let bounds = [vec![0], bounds].concat();
        let boundary = if periodic { (0, 0) } else { boundary };
        // One more on the upper side of a seam is what the protocol cannot say: it says what both sides have.
        let halo: Vec<(i64, i64)> =
            (0..counts.len()).map(|r| (seams[r], seams[(r + 1) % counts.len()] + uneven)).collect();
        let dist = Distribution::builder(&[*bounds.last().unwrap(), 7])
            .grid(&[counts.len() as i64, beside as i64])
            .bounds(0, &bounds)
            .halo(&[0, 1], &[0, 1])
            .halo_per_part(0, &halo)
            .boundary(&[boundary.0, 0], &[boundary.1, 0])
            .periodic(&[periodic, false])
            .build();
        prop_assume!(dist.is_ok());
        let dist = dist.unwrap();
        let described = |part| PartDescription::from_distribution(&dist, part).map(|_| ());
        let results: Vec<_> = (0..dist.parts()).map(described).collect();
        prop_assert!(results.windows(2).all(|pair| pair[0].is_ok() == pair[1].is_ok()));
        match &results[0] {
            Ok(()) => same(&dist, &there_and_back(&dist)),
            Err(refusal) => {
                prop_assert_eq!(&refusal.path, "dim_data[0]['padding']");
                // Refused for one reason: a boundary beyond its part.
                let (last, (lo, hi)) = (counts[counts.len() - 1], boundary);
                let fits = lo <= counts[0] && hi <= last && (counts.len() > 1 || lo + hi <= last);
                prop_assert!(!fits, "{}", refusal);
            }
        }
    }
}

#[test]
fn slices_of_a_cyclic_map_are_described_as_cyclic_where_possible() {
    let (mut spoken, mut listed) = (0, 0);
    for (block, parts, start, step) in (1..5)
        .flat_map(|b| (1..5).flat_map(move |p| (0..9).flat_map(move |s| (1..5).map(move |t| (b, p, s, t)))))
    {
        let dist =
            Distribution::builder(&[23]).map(0, DimMap::cyclic(23, parts, block).unwrap()).build().unwrap();
        let view = dist.strided(&Region::new(&[start], &[23]).unwrap(), &[step]).unwrap();
        let back = there_and_back(&view);
        same(&view, &back);
        match export(&view)[0].dims[0].kind {
            Said::Unstructured { .. } => listed += 1,
            _ => {
                assert!(!matches!(back.map(0), DimMap::Unstructured(_)), "{view:?} came back as lists");
                spoken += 1;
            }
        }
    }
    // Whole blocks cut off, steps that divide a block, and steps that are coprime to single parts.
    println!("ran: distarray-cyclic-slices {}", spoken + listed);
    assert!(spoken > listed, "{spoken} in cyclic words, {listed} as lists");
}
