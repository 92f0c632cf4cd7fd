//! Views of views over random distributions of every kind, against the same views of element numbers: fused
//! into their readers, assigned through, and counted in launches, messages and bytes.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod pairs;

use found::{devices, ran};
use pairs::{SIZE, maps, over};
use partita::array::{Cells, NewAxis, Span};
use partita::index::DimMap;
use partita::prelude::*;

/// The same numbers in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as i64
    }
}

/// A view on the host: its shape, and the number of the element at each of its points.
#[derive(Clone)]
struct Model {
    shape: Vec<i64>,
    numbers: Vec<i32>,
}

impl Model {
    fn whole(shape: &[i64]) -> Model {
        Model { shape: shape.to_vec(), numbers: (0..shape.iter().product::<i64>() as i32).collect() }
    }

    fn at(&self, point: &[i64]) -> i32 {
        self.numbers[point.iter().zip(&self.shape).fold(0, |n, (at, extent)| n * extent + at) as usize]
    }

    /// The view of shape `shape` whose element at a point is this one's at `cell(point)`.
    fn seen(&self, shape: &[i64], cell: impl Fn(&[i64]) -> Vec<i64>) -> Model {
        let numbers = match Region::from_shape(shape).unwrap() {
            region if region.is_empty() => Vec::new(),
            region => region.points().map(|point| self.at(&cell(&point))).collect(),
        };
        Model { shape: shape.to_vec(), numbers }
    }

    /// What spans select, worked out coordinate by coordinate.
    fn sliced(&self, spans: &[Span]) -> Model {
        let (mut shape, mut lists, mut d) = (Vec::new(), Vec::new(), 0);
        for span in spans {
            match *span {
                Span::New => shape.push(1),
                Span::At(at) => {
                    lists.push((None, vec![at.rem_euclid(self.shape[d])]));
                    d += 1;
                }
                Span::Range { start, stop, step } => {
                    let extent = self.shape[d];
                    let ends = if step > 0 { (0, extent) } else { (extent - 1, -1) };
                    let (mut at, stop) = (start.unwrap_or(ends.0), stop.unwrap_or(ends.1));
                    let mut list = Vec::new();
                    while if step > 0 { at < stop } else { at > stop } {
                        list.push(at);
                        at += step;
                    }
                    lists.push((Some(shape.len()), list));
                    shape.push(lists[d].1.len() as i64);
                    d += 1;
                }
            }
        }
        self.seen(&shape, |point| {
            lists.iter().map(|(dim, list)| list[dim.map_or(0, |dim| point[dim]) as usize]).collect()
        })
    }
}

fn spans(draw: &mut Draw, shape: &[i64]) -> Vec<Span> {
    let mut spans = Vec::new();
    for (d, &extent) in shape.iter().enumerate() {
        if draw.below(7) == 0 && spans.len() + shape.len() - d < 4 {
            spans.push(Span::New);
        }
        let step = [1, 1, 2, 3, -1, -2][draw.below(6) as usize];
        spans.push(match draw.below(8) {
            0 if extent > 0 && shape.len() > 1 && d + 1 < shape.len() => Span::At(draw.below(extent)),
            1 | 2 => s![.. ; step][0],
            _ => {
                let (a, b) = (draw.below(extent + 1), draw.below(extent + 1));
                let (low, high) = (a.min(b), a.max(b));
                match step > 0 {
                    true => s![low..high; step][0],
                    false if low == high => s![low.min(extent - 1)..low.min(extent - 1); step][0],
                    // From the last element down to the first that is meant.
                    false => s![high - 1..; step][0],
                }
            }
        });
    }
    spans
}

/// One more view of both.
fn step(draw: &mut Draw, array: &Array, model: &Model) -> (Array, Model) {
    let rank = model.shape.len();
    let dist = array.distribution().unwrap();
    let round: Vec<usize> = (0..rank).filter(|&d| dist.periodic(d) && model.shape[d] > 0).collect();
    match draw.below(6) {
        3 if !round.is_empty() => {
            let (d, by) = (round[draw.below(round.len() as i64) as usize], draw.below(9) - 4);
            let mut offsets = vec![0; rank];
            offsets[d] = by;
            let cell = |point: &[i64]| {
                let mut cell = point.to_vec();
                cell[d] = (cell[d] + by).rem_euclid(model.shape[d]);
                cell
            };
            (array.shift(&offsets), model.seen(&model.shape, cell))
        }
        0 if rank > 1 => {
            let turn = 1 + draw.below(rank as i64 - 1) as usize;
            let axes: Vec<usize> = (0..rank).map(|d| (d + turn) % rank).collect();
            let shape: Vec<i64> = axes.iter().map(|&d| model.shape[d]).collect();
            let cell = |point: &[i64]| {
                (0..rank).map(|d| point[axes.iter().position(|&axis| axis == d).unwrap()]).collect()
            };
            (array.transpose(&axes), model.seen(&shape, cell))
        }
        1 => {
            let d = draw.below(rank as i64) as usize;
            let cell = |point: &[i64]| {
                let mut cell = point.to_vec();
                cell[d] = model.shape[d] - 1 - cell[d];
                cell
            };
            (array.flip(d), model.seen(&model.shape, cell))
        }
        2 if rank > 1 => {
            let offset = draw.below(5) - 2;
            let (first, second) = ((-offset).max(0), offset.max(0));
            let count = (model.shape[0] - first).min(model.shape[1] - second).max(0);
            let shape = [&model.shape[2..], &[count]].concat();
            let cell = |point: &[i64]| {
                let (last, others) = point.split_last().unwrap();
                [&[last + first, last + second], others].concat()
            };
            (array.diagonal(offset), model.seen(&shape, cell))
        }
        _ => {
            let spans = spans(draw, &model.shape);
            (array.slice(&spans), model.sliced(&spans))
        }
    }
}

/// An array of numbered elements on a random layout of three parts or more.
fn numbered(draw: &mut Draw, device: &Device, kinds: bool) -> (Array, Model) {
    let grids: [&[i64]; 5] = [&[6, 1], &[2, 3], &[3, 2], &[1, 4], &[2, 2, 2]];
    let grid = grids[draw.below(5) as usize];
    let team = Team::on(std::slice::from_ref(device), grid.iter().product::<i64>() as usize).unwrap();
    let mut shape: Vec<i64> = grid.iter().map(|_| 1 + draw.below(9)).collect();
    let kind = (0..grid.len()).map(|d| {
        let of = maps().into_iter().filter(|map| map.parts() == grid[d] as usize).collect::<Vec<DimMap>>();
        let chosen = draw.below(2 * of.len() as i64 + 1) as usize;
        of.get(chosen).filter(|_| kinds).cloned()
    });
    let kind: Vec<Option<DimMap>> = kind.collect();
    for (extent, map) in shape.iter_mut().zip(&kind) {
        *extent = map.as_ref().map_or(*extent, DimMap::size);
    }
    let round: Vec<bool> = grid.iter().map(|_| draw.below(2) == 0).collect();
    let mut builder = Distribution::builder(&shape).grid(grid).periodic(&round);
    for (d, map) in kind.into_iter().enumerate() {
        builder = if let Some(map) = map { builder.map(d, map) } else { builder };
    }
    let model = Model::whole(&shape);
    (Array::from_fn(&team, &builder.build().unwrap(), |at| model.at(at)).unwrap(), model)
}

fn seeds(short: u64) -> std::ops::Range<u64> {
    let many = std::env::var("PARTITA_VIEW_SEEDS").ok().and_then(|n| n.parse().ok());
    0..many.unwrap_or(short)
}

#[test]
fn views_of_views_are_what_their_elements_say() {
    for device in devices() {
        for seed in seeds(150) {
            let mut draw = Draw(seed);
            let (whole, model) = numbered(&mut draw, &device, seed % 3 == 0);
            let (mut view, mut expected) = (whole.clone(), model.clone());
            for _ in 0..1 + draw.below(3) {
                (view, expected) = step(&mut draw, &view, &expected);
            }
            let what = format!("seed {seed} {device:?} {}", whole.distribution().unwrap());
            assert_eq!(view.shape()[..], expected.shape[..], "{what}");
            // Fused into what reads it, together with another view of the same shape and with a sum.
            let again = &view * 2.0 + view.flip(view.rank() - 1);
            let last = expected.shape[view.rank() - 1];
            let turned = expected.seen(&expected.shape, |point| {
                let mut cell = point.to_vec();
                cell[point.len() - 1] = last - 1 - cell[point.len() - 1];
                cell
            });
            let sums: Vec<i32> =
                expected.numbers.iter().zip(&turned.numbers).map(|(a, b)| 2 * a + b).collect();
            assert_eq!(again.to_vec::<i32>().unwrap(), sums, "{what}");
            // Neighbours in the view: two loads of one parameter.
            let behind = expected.shape[0].min(1);
            let slope = view.slice(&s![behind..]) * 3.0 - view.slice(&s![..expected.shape[0] - behind]);
            let [high, low] = [behind, 0].map(|first| {
                let shape = [&[expected.shape[0] - behind], &expected.shape[1..]].concat();
                let cell = |point: &[i64]| [&[point[0] + first], &point[1..]].concat();
                expected.seen(&shape, cell).numbers
            });
            let slopes: Vec<i32> = high.iter().zip(&low).map(|(a, b)| 3 * a - b).collect();
            assert_eq!(slope.to_vec::<i32>().unwrap(), slopes, "{what}");
            let sum = view.sum(&[]).item::<i64>().unwrap();
            assert_eq!(sum, expected.numbers.iter().map(|&n| i64::from(n)).sum::<i64>(), "{what}");
            assert_eq!(view.to_vec::<i32>().unwrap(), expected.numbers, "{what}");
            assert_eq!(whole.to_vec::<i32>().unwrap(), model.numbers, "{what}");
        }
        ran("views-of-views", &device, seeds(150).count());
    }
}

#[test]
fn views_are_assigned_to_and_see_old_values() {
    for device in devices() {
        for seed in seeds(120) {
            let mut draw = Draw(seed + 1_000_000);
            let (mut whole, model) = numbered(&mut draw, &device, seed % 3 == 0);
            let spans = spans(&mut draw, &model.shape);
            let seen = model.sliced(&spans);
            let what = format!("seed {seed} {device:?} {} {spans:?}", whole.distribution().unwrap());
            // The value reads what is overwritten, in reverse.
            let (view, last) = (whole.slice(&spans), seen.shape.len() - 1);
            let value = view.flip(last) * -1.0 + 7.0;
            let turned = seen.seen(&seen.shape, |point| {
                let mut cell = point.to_vec();
                cell[last] = seen.shape[last] - 1 - cell[last];
                cell
            });
            let mut expected = model.numbers.clone();
            for (&to, &from) in seen.numbers.iter().zip(&turned.numbers) {
                expected[to as usize] = 7 - from;
            }
            let (dist, kept) = (whole.distribution().unwrap(), whole.clone());
            whole.assign(&spans, &value).unwrap();
            assert_eq!(whole.to_vec::<i32>().unwrap(), expected, "{what}");
            assert!(whole.distribution().unwrap().same_layout(&dist), "{what}");
            assert_eq!(kept.to_vec::<i32>().unwrap(), model.numbers, "{what}");
        }
        ran("views-assigned", &device, seeds(120).count());
    }
}

/// `count` of the coordinates of [`maps`], in either direction.
fn span_of(draw: &mut Draw, count: i64) -> Span {
    let step: i64 = [1, 1, 2, 3, -1, -2, -3][draw.below(7) as usize];
    let first = draw.below(SIZE - (step.abs() * (count - 1)).max(0));
    let start = if step > 0 { first } else { SIZE - 1 - first };
    let stop = if count > 0 { start + step * (count - 1) + step.signum() } else { start };
    Span::Range { start: Some(start), stop: (stop >= 0).then_some(stop), step }
}

#[test]
fn windows_become_those_of_arrays_of_any_other_kinds_of_maps_and_ranks() {
    for device in devices() {
        let [plane, line] = [9, 3].map(|parts| Team::on(std::slice::from_ref(&device), parts).unwrap());
        let maps = maps();
        let make = |team: &Team, maps: &[&DimMap], sign: i32| {
            let dist = over(&maps.iter().copied().cloned().collect::<Vec<_>>());
            let model = Model::whole(&dist.shape());
            (Array::from_fn(team, &dist, |at| sign * model.at(at)).unwrap(), model)
        };
        let is_host = device.kind() == DeviceKind::Host;
        let mut cases = 0;
        for (seed, rows) in maps.iter().enumerate() {
            // Every pair on the host, every kind elsewhere.
            for (k, columns) in maps.iter().enumerate().filter(|(k, _)| is_host || (seed + k) % 5 == 0) {
                let mut draw = Draw((seed * maps.len() + k) as u64);
                let (planes, turned, lines) = ([rows, columns], [columns, rows], [columns]);
                let counts = [0; 2].map(|_| draw.below(7));
                let at = Span::At(draw.below(SIZE));
                let mut window = |counts: &[i64]| -> Vec<Span> {
                    counts.iter().map(|&count| span_of(&mut draw, count)).collect()
                };
                let [to, from] = [window(&counts), window(&counts)];
                let [there, here] = [0; 2].map(|_| window(&counts[1..])[0]);
                // A plane's window, a column by a line, a line by a row, a row by a column of the other.
                let assigned = [
                    (make(&plane, &planes, -1), to, make(&plane, &turned, 1), from),
                    (make(&plane, &planes, -1), vec![there, at], make(&line, &lines, 1), vec![here]),
                    (make(&line, &lines, -1), vec![there], make(&plane, &planes, 1), vec![at, here]),
                    (
                        make(&plane, &planes, -1),
                        vec![at, there],
                        make(&plane, &[columns, rows], 1),
                        vec![here, at],
                    ),
                ];
                for ((mut to, model), there, (from, source), here) in assigned {
                    let what = format!("{device:?} {} {there:?}: {here:?}", to.distribution().unwrap());
                    let mut expected: Vec<i32> = model.numbers.iter().map(|number| -number).collect();
                    for (&to, &from) in model.sliced(&there).numbers.iter().zip(&source.sliced(&here).numbers)
                    {
                        expected[to as usize] = from;
                    }
                    to.assign(&there, &from.slice(&here)).unwrap();
                    assert_eq!(to.to_vec::<i32>().unwrap(), expected, "{what}");
                    cases += 1;
                }
            }
        }
        ran("windows-of-kinds", &device, cases);
    }
}

#[test]
fn steps_flips_and_transpositions_of_blocks_move_nothing() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 6).unwrap();
        let dist = Distribution::builder(&[13, 9]).grid(&[2, 3]).build().unwrap();
        let number = |at: &[i64]| (at[0] * 9 + at[1]) as i32;
        let mut u = Array::from_fn(&team, &dist, number).unwrap();
        let before = team.messages();
        let views = [
            u.slice(&s![1..; 2, ..; 3]),
            u.flip(0).slice(&s![.., 2..]),
            u.transpose(&[1, 0]),
            u.slice(&s![..; -3, NewAxis, ..; -1]).transpose(&[2, 1, 0]),
            u.slice(&s![5]),
            u.slice(&s![.., -1, NewAxis]),
            u.diagonal(1),
        ];
        for view in &views {
            (view * 2.0 + 1.0).eval().unwrap();
            view.sum(&[]).eval().unwrap();
        }
        let sums = views.len() as u64 * 5;
        assert!(team.messages() - before <= sums, "{device:?}: more than the sums' own messages");
        let before = team.messages();
        u.assign(&s![..; 2, ..; -1], &(u.slice(&s![..; 2, ..; -1]) + 1.0)).unwrap();
        u.assign(&s![3, ..], &(u.slice(&s![3]) * 2.0)).unwrap();
        assert_eq!(team.messages(), before, "{device:?}");
        let expected = dist.global().points().map(|at| match at[0] {
            3 => 2 * number(&at),
            row if row % 2 == 0 => number(&at) + 1,
            _ => number(&at),
        });
        assert_eq!(u.to_vec::<i32>().unwrap(), expected.collect::<Vec<i32>>(), "{device:?}");
    }
}

#[test]
fn parts_of_views_share_the_memory_of_their_base() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    let dist = Distribution::builder(&[14, 6]).grid(&[4, 1]).halo(&[1, 0], &[0, 2]).build().unwrap();
    let number = |at: &[i64]| (at[0] * 6 + at[1]) as i32;
    let mut u = Array::from_fn(&team, &dist, number).unwrap();
    let bases = u.parts().unwrap();
    let bases: Vec<_> = bases.iter().map(|part| part.address(Cells::Stored).unwrap().unwrap()).collect();
    // The rows 1, 4 and 7 of the transpose's columns 2 and 4; the last part has none of them.
    let view = u.slice(&s![1..9; 3, ..]).transpose(&[1, 0]).slice(&s![2..; 2, NewAxis, ..]);
    assert_eq!(view.shape()[..], [2, 1, 3]);
    let parts = view.parts().unwrap();
    for (part, base) in parts.iter().zip(&bases) {
        let owned = part.region(Cells::Owned);
        let Some(first) = part.address(Cells::Owned).unwrap() else {
            assert!(owned.is_empty());
            continue;
        };
        let row = 1 + 3 * owned.start()[2];
        let stored = dist.stored(part.index());
        let expected = (row - stored.start()[0]) * 6 + 2;
        assert_eq!(first.as_ptr() as usize - base.as_ptr() as usize, 4 * expected as usize);
        assert_eq!((part.strides()[0], part.strides()[2]), (2, 18));
    }
    assert!(parts.iter().any(|part| part.region(Cells::Owned).is_empty()));
    // What was handed on keeps its values, whatever becomes of the array and the view.
    u.assign(&s![..], &(&u * -1.0)).unwrap();
    u.assign(&s![4..5, ..], &(u.slice(&s![4..5, ..]) + 1000.0)).unwrap();
    view.eval().unwrap();
    for part in &parts {
        let owned = part.region(Cells::Owned);
        let cells: Vec<i32> = owned.points().map(|at| number(&[1 + 3 * at[2], 2 + 2 * at[0]])).collect();
        let (mut read, copy) = (vec![0i32; cells.len()], part.copied(Cells::Owned).unwrap());
        part.read_into(Cells::Owned, bytemuck::cast_slice_mut(&mut read)).unwrap();
        assert_eq!(read, cells);
        copy.read_into(Cells::Owned, bytemuck::cast_slice_mut(&mut read)).unwrap();
        assert_eq!(read, cells);
    }
    // Downwards, and where elements are elsewhere, there is no such memory: the view is computed.
    let flipped = u.flip(0).parts().unwrap();
    assert!(
        flipped.iter().zip(&bases).all(|(part, base)| part.address(Cells::Owned).unwrap() != Some(*base))
    );
    let stretched = u.slice(&s![2, ..]).broadcast_to(&[5, 6]).parts().unwrap();
    assert_eq!(stretched.iter().map(|part| part.region(Cells::Owned).volume().unwrap()).sum::<i64>(), 30);
}

#[test]
fn what_spans_cannot_mean_is_refused() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::default_partition(2, &[6, 4]).unwrap();
    let u = Array::zeros(&team, &dist, DType::F32).unwrap();
    let refused = [
        u.slice(&s![..; 0]),
        u.slice(&s![6]),
        u.slice(&s![2..5; -1]),
        u.transpose(&[0, 0]),
        u.flip(2),
        u.slice(&s![.., 0]).diagonal(0),
        u.broadcast_to(&[6, 3]),
    ];
    for (k, array) in refused.iter().enumerate() {
        let error = array.eval().unwrap_err().to_string();
        assert!(error.contains("expected"), "{k}: {error}");
    }
    let cell = Array::from_fn(&team, &dist, |at| at[0] as f32).unwrap().slice(&s![4, 1]);
    assert_eq!((cell.rank(), cell.item::<f32>().unwrap()), (0, 4.0));
}
