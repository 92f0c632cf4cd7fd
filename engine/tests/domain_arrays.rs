//! Arrays over domains of any bounds and strides, on maps of every kind and one to seven parts, against
//! dictionaries from indices to values: views and arithmetic, assignment between any two domains, resizing.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod model;
mod pairs;

use std::mem;

use found::{devices, ran};
use model::{Draw, KINDS, Model};
use pairs::over;
use partita::array::Span;
use partita::prelude::*;

/// The devices of each kind, together.
fn kinds_of_devices() -> Vec<Vec<Device>> {
    let all = devices();
    let mut kinds: Vec<Vec<Device>> = Vec::new();
    for device in all {
        match kinds.iter_mut().find(|kind| kind[0].kind() == device.kind()) {
            Some(kind) => kind.push(device),
            None => kinds.push(vec![device]),
        }
    }
    kinds
}

/// All of `count` on the host, so many in a hundred elsewhere.
fn share(device: &Device, count: u64, elsewhere: u64) -> u64 {
    match device.kind() {
        DeviceKind::Host => count,
        DeviceKind::Cuda => count * elsewhere / 100,
        _ => count * elsewhere / 400,
    }
}

fn place(domain: &Domain, dim: usize, index: i64) -> Span {
    Span::At(domain.dim(dim).order(index).unwrap())
}

/// Arrays, and what must not change with them: clones, views and recorded expressions of before.
struct Program {
    draw: Draw,
    team: Team,
    arrays: Vec<(Array, Model)>,
    kept: Vec<(Array, Model)>,
    text: String,
}

impl Program {
    fn new(devices: &[Device], seed: u64) -> Program {
        let team = Team::on(devices, 1 + seed as usize % 7).unwrap();
        let text = format!("seed {seed} on {team}:");
        let mut program = Program { draw: Draw(seed), team, arrays: Vec::new(), kept: Vec::new(), text };
        let rank = 1 + program.draw.below(3) as usize;
        for _ in 0..2 {
            program.make(rank);
        }
        program
    }

    fn make(&mut self, rank: usize) {
        let most = [0, 13, 7, 5][rank];
        let shape: Vec<i64> = (0..rank).map(|_| self.draw.between(1, most)).collect();
        let (dist, domain) = (self.draw.dist(&shape, self.team.size()), self.draw.domain(&shape));
        self.text += &format!("\nmake {domain} {dist}");
        let made = Model::made(&self.team, &dist, &domain, self.draw.0 as i64 % 1000);
        self.push(made);
    }

    fn push(&mut self, made: (Array, Model)) {
        match self.arrays.len() < 4 {
            true => self.arrays.push(made),
            false => {
                let k = self.draw.below(4) as usize;
                self.kept.push(mem::replace(&mut self.arrays[k], made));
            }
        }
    }

    fn pick(&mut self) -> usize {
        self.draw.below(self.arrays.len() as i64) as usize
    }

    /// One of the same rank, maybe itself.
    fn beside(&mut self, k: usize) -> (Array, Model) {
        let rank = self.arrays[k].0.rank();
        let alike: Vec<_> = self.arrays.iter().filter(|(array, _)| array.rank() == rank).cloned().collect();
        alike[self.draw.below(alike.len() as i64) as usize].clone()
    }

    /// Indices of both domains, of one shape.
    fn subs(&mut self, a: &Domain, b: &Domain) -> [Domain; 2] {
        let most: Vec<i64> = a.shape().iter().zip(b.shape().iter()).map(|(x, y)| *x.min(y)).collect();
        let shape = self.draw.part_of(&most);
        [a, b].map(|domain| self.draw.sub_of_shape(domain, &shape))
    }

    /// Keeps what the array is now.
    fn keep(&mut self, k: usize) {
        let (array, model) = self.arrays[k].clone();
        let kept = match self.draw.below(4) {
            0 => (&array * 3 - 1, model.map(|x| x.wrapping_mul(3).wrapping_sub(1))),
            1 => {
                let sub = self.draw.sub(&model.domain);
                (array.at(&sub), model.at(&sub))
            }
            _ => (array, model),
        };
        self.kept.push(kept);
    }

    fn step(&mut self) {
        let k = self.pick();
        if self.draw.below(3) == 0 {
            self.keep(k);
        }
        let (array, model) = self.arrays[k].clone();
        let rank = array.rank();
        let dim = self.draw.below(rank as i64) as usize;
        let note = |text: &mut String, what: String| *text += &format!("\n{k} {}: {what}", model.domain);
        match self.draw.below(13) {
            0 => self.make(rank),
            1 => {
                let sub = self.draw.sub(&model.domain);
                note(&mut self.text, format!("at {sub}"));
                self.push((array.at(&sub), model.at(&sub)));
            }
            2 | 3 => {
                let (other, values) = self.beside(k);
                let [to, from] = self.subs(&model.domain, &values.domain);
                note(&mut self.text, format!("assign_at {to} from {from} of {}", values.domain));
                let value = other.at(&from) - 5;
                // Often the only handle, whose memory may be written in place.
                mem::drop((array, other));
                self.arrays[k].0.assign_at(&to, &value).unwrap();
                self.arrays[k].1.set(&to, &values.at(&from).map(|x| x.wrapping_sub(5)));
            }
            4 if !model.domain.is_empty() => {
                let (to, from) = (self.draw.sub(&model.domain), model.domain.nth(0).unwrap());
                note(&mut self.text, format!("assign_at {to} a number"));
                let zeros = Domain::from_shape(&vec![1; rank]).unwrap();
                let one = array.at(&zeros.shift(&from).unwrap());
                self.arrays[k].0.assign_at(&to, &one.sum(&[]).cast(DType::I32)).unwrap();
                let number = Model::new(&to, |_| model.values[&from]);
                self.arrays[k].1.set(&to, &number);
            }
            5 => {
                let (other, values) = self.beside(k);
                let [a, b] = self.subs(&model.domain, &values.domain);
                note(&mut self.text, format!("select by position {a}, {b} of {}", values.domain));
                let (x, y) = (array.at(&a), other.at(&b));
                let made = x.cast(DType::I64).greater(100).select(&(&x - &y), &x);
                let expected =
                    model.at(&a).zip(&values.at(&b), |x, y| if x > 100 { x.wrapping_sub(y) } else { x });
                self.push((made, expected));
            }
            6 => {
                let (other, values) = self.beside(k);
                note(&mut self.text, format!("by_index {}", values.domain));
                let both = by_index(&[&array, &other]);
                let common = model.domain.intersect(&values.domain).unwrap();
                let expected = model.at(&common).zip(&values.at(&common), i32::wrapping_add);
                assert!(
                    expected
                        .values
                        .iter()
                        .all(|(at, sum)| { *sum == model.values[at].wrapping_add(values.values[at]) })
                );
                self.push((&both[0] + &both[1], expected));
            }
            7 | 8 => {
                let domain = match self.draw.below(3) {
                    0 => {
                        let shape: Vec<i64> = (0..rank).map(|_| self.draw.between(0, 6)).collect();
                        self.draw.domain(&shape)
                    }
                    1 => model.domain.shift(&vec![self.draw.between(-2, 2); rank]).unwrap(),
                    _ => model.domain.expand(&vec![self.draw.between(-1, 2); rank]).unwrap(),
                };
                note(&mut self.text, format!("resize_over {domain}"));
                match array.resize_over(&domain) {
                    Ok(resized) => {
                        let made = (resized, model.resize(&domain));
                        self.kept.push(mem::replace(&mut self.arrays[k], made));
                    }
                    // Views of maps are no maps for any size.
                    Err(error) => {
                        let text = error.to_string();
                        assert!(text.contains("a map that is a rule for any size"), "{}: {text}", self.text);
                        assert_ne!(array.shape(), domain.shape(), "{}", self.text);
                    }
                }
            }
            9 if !model.domain.is_empty() => {
                let at = model.domain.nth(self.draw.below(model.domain.num_indices())).unwrap();
                note(&mut self.text, format!("set_at {at}"));
                mem::drop(array);
                self.arrays[k].0.set_at(&at, Scalar::from_i64(DType::I32, 77)).unwrap();
                self.arrays[k].1.values.insert(at, 77);
            }
            10 => {
                let axes: Vec<usize> = (0..rank).map(|d| (d + dim) % rank).collect();
                note(&mut self.text, format!("transpose {axes:?}, flip"));
                let turned = model.transpose(&axes);
                let mut by = vec![1; rank];
                by[dim] = -1;
                let down = turned.domain.by(&by).unwrap();
                self.push((array.transpose(&axes).flip(dim), turned.at(&down)));
            }
            11 if rank > 1 && !model.domain.is_empty() => {
                let at = model.domain.nth(self.draw.below(model.domain.num_indices())).unwrap()[dim];
                note(&mut self.text, format!("without {dim}, at {at}"));
                let mut spans = s![.., .., ..][..rank].to_vec();
                spans[dim] = place(&model.domain, dim, at);
                self.push((array.slice(&spans), model.fixed(dim, at)));
            }
            12 => {
                let dist = self.draw.dist(&array.shape(), self.team.size());
                note(&mut self.text, format!("sums along {dim}, onto {dist}"));
                let sums = array.cumulative_sum(dim).cast(DType::I32).redistribute(&dist);
                self.push((sums, model.sums(dim)));
            }
            _ => {}
        }
        if self.draw.below(3) == 0 {
            let k = self.pick();
            self.arrays[k].1.check(&self.arrays[k].0, &self.text);
        }
    }

    fn run(devices: &[Device], seed: u64) {
        let mut program = Program::new(devices, seed);
        for _ in 0..program.draw.between(4, 10) {
            program.step();
        }
        for (array, model) in program.arrays.iter().chain(&program.kept) {
            model.check(array, &program.text);
        }
    }
}

#[test]
fn random_programs_give_what_dictionaries_give() {
    let given = std::env::var("PARTITA_DOMAIN_PROGRAMS").ok().and_then(|n| n.parse().ok());
    for devices in kinds_of_devices() {
        let count = share(&devices[0], given.unwrap_or(2000), 10);
        (0..count).for_each(|seed| Program::run(&devices, seed));
        ran("domain-programs", &devices[0], count as usize);
    }
}

/// Assignment between all pairs of kinds of maps, each with other windows, strides and directions; whole
/// planes, and of a plane's column a row or a line, and the other way round, where the dimension goes.
#[test]
fn assignment_between_all_pairs_of_kinds_goes_by_position() {
    for devices in kinds_of_devices() {
        let mut cases = 0;
        for seed in 0..share(&devices[0], 4 * 49, 25) {
            let mut draw = Draw(seed);
            let [to, from] = [seed as usize % 7, seed as usize / 7 % 7];
            let parts = 1 + draw.below(7) as usize;
            let team = Team::on(&devices, parts).unwrap();
            let mut plane = |rows: usize, columns: usize| {
                let (shape, grid) = ([draw.between(3, 9), draw.between(3, 9)], draw.grid(2, parts));
                let maps = [draw.map(rows, shape[0], grid[0]), draw.map(columns, shape[1], grid[1])];
                Model::made(&team, &over(&maps), &draw.domain(&shape), cases)
            };
            let (mut a, mut expected) = plane(to, from);
            let (b, values) = plane(from, to);
            let map = draw.map(from, 9, parts);
            let (line, line_values) = Model::made(&team, &over(&[map]), &draw.domain(&[9]), 7);
            let what = format!(
                "seed {seed}: {} from {}, {} := {}, {}",
                KINDS[to], KINDS[from], expected.domain, values.domain, line_values.domain
            );
            // Same rank.
            let most: Vec<i64> = a.shape().iter().zip(b.shape().iter()).map(|(x, y)| *x.min(y)).collect();
            let shape = draw.part_of(&most);
            let (there, here) =
                (draw.sub_of_shape(&expected.domain, &shape), draw.sub_of_shape(&values.domain, &shape));
            a.assign_at(&there, &b.at(&here)).unwrap();
            expected.set(&there, &values.at(&here));
            expected.check(&a, &format!("{what}, {there} := {here}"));
            // A[.., j] = B[i, ..], as long as both go; then the same from a line; then a row from a line.
            let (j, i) = (expected.domain.dim(1).nth(1).unwrap(), values.domain.dim(0).nth(2).unwrap());
            let row = values.fixed(0, i);
            for (source, model) in [(b.slice(&[place(&values.domain, 0, i)]), &row), (line, &line_values)] {
                let len = a.shape()[0].min(source.shape()[0]);
                let column = Domain::new(&[expected.domain.dim(0)]).unwrap();
                let (there, here) =
                    (draw.sub_of_shape(&column, &[len]), draw.sub_of_shape(&model.domain, &[len]));
                let mut spans = vec![Span::Range { start: None, stop: None, step: 1 }; 2];
                let places = column.dim(0).positions(&there.dim(0)).unwrap();
                let (first, step) = (places.first(), places.stride());
                let stop = first + (len - 1) * step + step.signum();
                spans[0] = Span::Range { start: Some(first), stop: (stop >= 0).then_some(stop), step };
                spans[1] = place(&expected.domain, 1, j);
                a.assign(&spans, &source.at(&here)).unwrap();
                let value = model.at(&here);
                for (at, from) in there.iter().zip(here.iter()) {
                    expected.values.insert([at[0], j].into(), value.values[&from]);
                }
                expected.check(&a, &format!("{what}, column {j}, {there} := {here}"));
            }
            cases += 1;
        }
        ran("domain-pairs", &devices[0], cases as usize);
    }
}

/// What was made of the array before keeps its value: a clone, a view, a recorded expression.
#[test]
fn resizing_keeps_the_values_of_common_indices() {
    for devices in kinds_of_devices() {
        let (mut cases, mut refused) = (0, 0);
        for seed in 0..share(&devices[0], 300, 10) {
            let mut draw = Draw(seed + 5_000);
            let team = Team::on(&devices, 1 + draw.below(7) as usize).unwrap();
            let shape = [draw.between(0, 8), draw.between(1, 8)];
            let grid = draw.grid(2, team.size());
            let kinds = [0; 2].map(|_| draw.below(7) as usize);
            let maps = [0, 1].map(|d| draw.map(kinds[d], shape[d], grid[d]));
            let (dist, domain) = (over(&maps), draw.domain(&shape));
            let (array, model) = Model::made(&team, &dist, &domain, 3);
            let sub = draw.sub(&domain);
            let before = [
                (array.clone(), model.clone()),
                (array.at(&sub), model.at(&sub)),
                (&array + 4, model.map(|x| x.wrapping_add(4))),
            ];
            let other = match seed % 3 {
                0 => domain.expand(&[draw.between(0, 2), draw.between(-1, 2)]).unwrap(),
                // Every second index, or others between.
                1 => domain.by(&[2, -1]).unwrap().shift(&[draw.between(-2, 2), 1]).unwrap(),
                _ => {
                    let shape = [draw.between(0, 8), draw.between(0, 8)];
                    draw.domain(&shape)
                }
            };
            let what = format!("seed {seed}: {domain} to {other} on {dist}");
            // Bounds that divide evenly are the rule of even blocks.
            let is_even = |d: usize| maps[d] == DimMap::even(shape[d], maps[d].parts()).unwrap();
            let is_list = |d: usize| ["irregular", "unstructured"].contains(&KINDS[kinds[d]]) && !is_even(d);
            let refuses = (0..2).any(|d| is_list(d) && other.shape()[d] != shape[d]);
            match array.resize_over(&other) {
                Ok(mut resized) => {
                    assert!(!refuses, "{what}");
                    model.resize(&other).check(&resized, &what);
                    let (held, divided) =
                        (resized.distribution().unwrap(), dist.resized(&other.shape()).unwrap());
                    assert!((0..dist.parts()).all(|part| held.owned_set(part) == divided.owned_set(part)));
                    if let Some(index) = other.nth(0) {
                        resized.set_at(&index, Scalar::from_i64(DType::I32, -1)).unwrap();
                        assert_eq!(resized.get_at(&index).unwrap(), (-1).into());
                    }
                    cases += 1;
                }
                Err(error) => {
                    assert!(refuses, "{what}: {error}");
                    refused += 1;
                }
            }
            before.iter().for_each(|(array, model)| model.check(array, &what));
        }
        assert!(cases > 0 && refused > 0);
        ran("domain-resizings", &devices[0], cases);
    }
}

fn range(start: i64, stop: i64, stride: i64) -> IndexRange {
    IndexRange::new(start, stop, stride).unwrap()
}

fn domain<const N: usize>(ranges: [(i64, i64, i64); N]) -> Domain {
    Domain::new(&ranges.map(|(start, stop, stride)| range(start, stop, stride))).unwrap()
}

/// A plain plane of 3 x 4 over two parts, the same over {1:4, -2:5:2}, and that domain.
fn planes() -> (Array, Array, Domain) {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[3, 4]).parts(2).cyclic(0, 1).build().unwrap();
    let plain = Array::from_fn(&team, &dist, |at| (at[0] * 10 + at[1]) as i32).unwrap();
    let domain = domain([(1, 4, 1), (-2, 6, 2)]);
    (plain.clone(), plain.over(&domain), domain)
}

#[test]
fn unlike_shapes_are_errors_that_name_both_and_numbers_stretch() {
    let (plain, over, whole) = planes();
    let row = over.at(&domain([(2, 3, 1), (-2, 6, 2)]));
    let refusal = "operands of one shape, because arrays over domains go by position, given ";
    let is_refused = |result: &Array, both: &str| {
        let text = result.recorded().unwrap_err().to_string();
        assert!(text.contains(&format!("{refusal}{both}")), "{text}");
    };
    is_refused(&(&over + &row), "{1:4, -2:5:2} and {2:3, -2:5:2}");
    is_refused(&(&plain.slice(&s![0]) * &over), "shape (4) and {1:4, -2:5:2}");
    is_refused(&over.less(plain.slice(&s![0])), "{1:4, -2:5:2} and shape (4)");
    is_refused(&over.greater(1).select(&row, &over), "{1:4, -2:5:2} and {2:3, -2:5:2}");
    is_refused(&plain.updated(&s![.., ..], &row), "shape (3, 4) and {2:3, -2:5:2}");
    let mut changed = over.clone();
    let text = changed.assign_at(&whole, &plain.slice(&s![0])).unwrap_err().to_string();
    assert!(text.contains("given {1:4, -2:5:2} and shape (4)"), "{text}");
    assert_eq!(changed.to_vec::<i32>().unwrap(), plain.to_vec::<i32>().unwrap());
    // Those of no domain broadcast as ever, and of as many dimensions to one over a domain.
    assert!((&plain + plain.slice(&s![0])).recorded().is_ok());
    assert_eq!((&plain.slice(&s![0..1, ..]) * &over).domain(), whole);
    // Numbers: of Rust, without dimensions, and what is left of all elements.
    let most = over.max(&[]);
    let one = over.at(&domain([(3, 4, 1), (4, 5, 1)])).slice(&s![0, 0]);
    assert_eq!((one.rank(), one.domain(), one.item::<i32>().unwrap()), (0, Domain::new(&[]).unwrap(), 23));
    for result in [&over - 23, &over - &most, &most * -1 + &over, &over - &one, &one * -1 + &over] {
        assert_eq!((result.domain(), result.get_at(&[3, 4]).unwrap()), (whole.clone(), 0.into()));
    }
    changed.assign_at(&whole, &one).unwrap();
    changed.assign_at(&domain([(1, 2, 1), (0, 6, 4)]), &(most + 1)).unwrap();
    assert_eq!(changed.to_vec::<i32>().unwrap(), [23, 24, 23, 24, 23, 23, 23, 23, 23, 23, 23, 23]);
}

/// What has no index of its own counts from 0, and an array keeps its own when it is assigned to.
#[test]
fn results_are_over_the_domain_of_their_elements_or_count_from_zero() {
    let (plain, over, whole) = planes();
    let team = plain.team().clone();
    let blocks = Distribution::default_partition(2, &[3, 4]).unwrap();
    let one = Team::on(&[Device::host()], 1).unwrap();
    let moved = over.move_to(&one, &Distribution::builder(&[3, 4]).build().unwrap());
    let masked = over.greater(5).select(&over, &(&plain - 9));
    let kept = [
        &over + 1,
        1 - &over,
        &plain + &over,
        over.cast(DType::F64),
        -&over,
        masked,
        moved,
        over.scan(1, FoldOp::Max),
        over.sort(0, true),
        over.redistribute(&blocks),
        over.updated(&s![0, ..], &(over.slice(&s![1, ..]) * 2)),
    ];
    kept.iter()
        .for_each(|array| assert!(array.is_over_domain() && array.domain() == whole, "{}", array.domain()));
    let first = &over + over.over(&whole.shift(&[5, 5]).unwrap());
    assert_eq!(first.domain(), whole, "the first operand's");
    let plain_ones = [
        over.sum(&[0]),
        over.max(&[]),
        over.reshape(&[12]),
        over.reshape(&[4, 3]),
        over.gather(&[3, 4], &[1; 12]),
        Array::concatenate(&[&over, &over], 0),
        over.pad(&[(1, 0), (0, 0)], Padding::Edge),
        plain.clone(),
        plain.updated(&s![.., ..], &over),
        over.argmax(Some(1)),
    ];
    for array in plain_ones {
        assert!(!array.is_over_domain(), "{}", array.domain());
        assert_eq!(array.domain(), Domain::from_shape(&array.shape()).unwrap());
    }
    let mut assigned = plain.clone();
    assigned.assign(&s![.., ..], &over).unwrap();
    assert!(!assigned.is_over_domain());
    let mut again = over.clone();
    again.assign(&s![.., ..], &plain).unwrap();
    again.set_at(&[1, 0], 3.into()).unwrap();
    again += 1;
    again
        .scatter(
            &[0],
            &Array::from_slice(&team, &Distribution::default_partition(2, &[1]).unwrap(), &[9]).unwrap(),
        )
        .unwrap();
    assert_eq!(again.domain(), whole);
    // Elements taken at an array of positions are under the indices of that array.
    let line = over.slice(&s![1, ..]);
    let indices =
        Array::from_slice(&team, &Distribution::default_partition(2, &[4]).unwrap(), &[3i64, 0, 0, 1])
            .unwrap();
    let asked = line.take(&indices.over(&domain([(-9, -5, 1)]))).unwrap();
    assert_eq!((asked.domain(), asked.get_at(&[-6]).unwrap()), (domain([(-9, -5, 1)]), 11.into()));
    assert!(line.is_over_domain() && !line.take(&indices).unwrap().is_over_domain());
    // What wraps around in a periodic dimension comes under the indices there.
    let round = Distribution::builder(&[3, 4]).parts(2).periodic(&[false, true]).build().unwrap();
    for turned in [over.redistribute(&round).shift(&[0, 1]), over.redistribute(&round).roll(&[0, -1])] {
        assert_eq!((turned.domain(), turned.get_at(&[2, 4]).unwrap()), (whole.clone(), 10.into()));
        assert_eq!(turned.get_at(&[2, -2]).unwrap(), 11.into());
    }
    // An array over no domain has indices, too, and a view by them is over a domain.
    let inner = plain.at(&domain([(1, 3, 1), (3, 0, -2)]));
    assert_eq!(
        (inner.domain(), inner.to_vec::<i32>().unwrap()),
        (domain([(1, 3, 1), (3, 0, -2)]), vec![13, 11, 23, 21])
    );
}

#[test]
fn indices_that_an_array_does_not_have_and_domains_of_other_shapes_are_errors() {
    let (plain, over, whole) = planes();
    let text = |array: &Array| array.recorded().unwrap_err().to_string();
    assert!(
        text(&plain.over(&domain([(0, 3, 1)])))
            .contains("over: expected a domain of shape (3, 4), given {0:3}")
    );
    assert!(text(&over.at(&whole.shift(&[0, 1]).unwrap())).contains("in dimension 1"));
    assert!(text(&over.at(&domain([(1, 2, 1)]))).contains("one per dimension"));
    assert!(text(&by_index(&[&over, &over.slice(&s![0])])[0]).contains("one per dimension"));
    let mut changed = over.clone();
    for index in [&[1, -1][..], &[0, 0], &[1], &[4, 0]] {
        let error = over.get_at(index).unwrap_err().to_string();
        assert!(error.contains("index"), "{error}");
        assert!(changed.set_at(index, 1.into()).is_err());
    }
    assert!(over.resize_over(&domain([(0, 3, 1)])).is_err());
    // An error that an array carries comes first.
    let broken = &over + over.slice(&s![0]);
    let first = text(&broken);
    for again in [broken.get_at(&[7, 7]).unwrap_err(), broken.resize_over(&whole).unwrap_err()] {
        assert_eq!(again.to_string(), first);
    }
    assert_eq!((text(&broken.over(&domain([(0, 1, 1)]))), text(&broken.at(&whole))), (first.clone(), first));
}

/// Replayed steps keep the domains of the state.
#[test]
fn loops_step_arrays_over_domains() {
    for devices in kinds_of_devices() {
        let team = Team::on(&devices, 3).unwrap();
        let dist = Distribution::builder(&[10]).parts(3).halo(&[1], &[1]).build().unwrap();
        let whole = domain([(-4, 6, 1)]);
        let inner = whole.expand(&[-1]).unwrap();
        let u = Array::from_fn(&team, &dist, |at| (at[0] * at[0]) as f32).unwrap().over(&whole);
        let mut steps = Loop::new(vec![u], |state: &mut [Array]| {
            let [left, right] = [-1, 1].map(|by| state[0].at(&inner.shift(&[by]).unwrap()));
            state[0].assign_at(&inner, &((left + right) * 0.5))
        });
        steps.run(12).unwrap();
        assert!(steps.is_replaying());
        let u = &steps.state()[0];
        assert_eq!((u.domain(), u.get_at(&[-4]).unwrap()), (whole, 0f32.into()), "{devices:?}");
        let mut plain: Vec<f32> = (0..10).map(|i| (i * i) as f32).collect();
        for _ in 0..12 {
            let old = plain.clone();
            (1..9).for_each(|i| plain[i] = (old[i - 1] + old[i + 1]) * 0.5);
        }
        assert_eq!(u.to_vec::<f32>().unwrap(), plain, "{devices:?}");
    }
}

/// Results are under the indices of the cells that they are of.
#[test]
fn differences_keep_the_indices_of_their_centres() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    for round in [false, true] {
        let dist = Distribution::builder(&[7]).periodic(&[round]).parts(3).build().unwrap();
        let whole = domain([(-3, 4, 1)]);
        let u = Array::from_fn(&team, &dist, |at| ((at[0] - 3) * (at[0] - 3)) as f64).unwrap().over(&whole);
        let inner = whole.expand(&[-1]).unwrap();
        let [of, ends] = [Boundary::Open, Boundary::Wrap];
        let open = operators::laplacian(&u, &[1.0], of);
        assert_eq!((open.domain(), open.get_at(&[2]).unwrap()), (inner.clone(), 2.0.into()));
        let means = operators::convolve(&u, &[1.0, 0.0, 1.0], &[3], of);
        assert_eq!((means.domain(), means.get_at(&[0]).unwrap()), (inner.clone(), 2.0.into()));
        for slope in [&operators::gradient(&u, &[1.0], of)[0], &operators::gradient(&u, &[1.0], ends)[0]] {
            assert_eq!((slope.domain(), slope.get_at(&[-2]).unwrap()), (whole.clone(), (-4.0).into()));
        }
        let closed = operators::laplacian(&u, &[1.0], ends);
        assert_eq!((closed.domain(), closed.get_at(&[3]).unwrap()), (whole.clone(), (-5.0).into()));
        assert_eq!(operators::laplacian(&u, &[1.0], Boundary::Edge).domain(), whole);
    }
}
