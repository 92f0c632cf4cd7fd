//! Random states and steps as data: what a step does to the arrays of a state, in a model that computes one
//! element after the other, and in arrays.

use partita::array::Span;
use partita::prelude::*;

/// Numbers without pattern (Marsaglia's xorshift64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    pub fn below(&mut self, bound: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound.max(1) as u64) as i64
    }

    fn one_in(&mut self, times: i64) -> bool {
        self.below(times) == 0
    }
}

/// An array of the state. `wide` is F64.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kind {
    pub shape: Vec<i64>,
    pub wide: bool,
}

/// An array that is read, how far away, and what it is multiplied by.
#[derive(Clone, Debug)]
pub struct Term {
    pub array: usize,
    pub away: Vec<i64>,
    pub factor: f64,
}

/// Starts and ends along each dimension.
pub type Window = Vec<(i64, i64)>;

/// Something that a step does.
#[derive(Clone, Debug)]
pub enum Change {
    /// Sums into the same window of one array, or of several at once.
    Assign {
        window: Window,
        sums: Vec<(usize, Vec<Term>)>,
    },
    /// A sum is the new array; its operands wrap around where dimensions do.
    Replace {
        array: usize,
        terms: Vec<Term>,
    },
    Swap(usize, usize),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub kinds: Vec<Kind>,
    pub periodic: Vec<bool>,
    pub parts: usize,
    pub depth: usize,
    pub changes: Vec<Change>,
    /// Steps of each run.
    pub runs: Vec<u64>,
    /// A call of the step that ends with an error, after so many changes.
    pub fails: Option<(u64, usize)>,
}

impl Case {
    pub fn new(seed: u64) -> Case {
        let random = &mut Random::new(seed);
        let rank = [1, 2, 2, 2, 3, 3, 4][random.below(7) as usize];
        let sizes: &[(i64, i64)] = match rank {
            1 => &[(40, 900)],
            2 => &[(40, 120), (9, 30)],
            3 => &[(14, 30), (12, 24), (5, 12)],
            _ => &[(12, 16), (10, 14), (3, 6), (3, 6)],
        };
        let mut shape: Vec<i64> =
            sizes.iter().map(|&(least, most)| least + random.below(most - least)).collect();
        shape[0] &= !1;
        let first = Kind { shape: shape.clone(), wide: random.one_in(4) };
        let mut kinds = vec![first.clone()];
        for _ in 0..random.below(3) {
            kinds.push(match random.below(6) {
                // Fewer dimensions, or the same bytes in another type.
                0 if rank > 1 => Kind { shape: shape[..rank - 1].to_vec(), wide: first.wide },
                1 if !first.wide => Kind { shape: [&[shape[0] / 2], &shape[1..]].concat(), wide: true },
                _ => first.clone(),
            });
        }
        let periodic = (0..rank).map(|_| random.one_in(4)).collect();
        let (parts, depth) = ([1, 1, 2, 3, 4][random.below(5) as usize], 1 + random.below(4) as usize);
        let (changes, runs) = (Vec::new(), Vec::new());
        let mut case = Case { kinds, periodic, parts, depth, changes, runs, fails: None };
        for _ in 0..1 + random.below(4) {
            let change = case.change(random);
            case.changes.push(change);
        }
        case.runs = (0..5).map(|_| random.below(14) as u64).chain([9]).collect();
        let fails = (1 + random.below(9) as u64, random.below(case.changes.len() as i64 + 1) as usize);
        case.fails = random.one_in(4).then_some(fails);
        case
    }

    /// Arrays that can be read together with one.
    fn like(&self, array: usize) -> Vec<usize> {
        (0..self.kinds.len()).filter(|&other| self.kinds[other] == self.kinds[array]).collect()
    }

    fn change(&self, random: &mut Random) -> Change {
        let array = random.below(self.kinds.len() as i64) as usize;
        let (shape, like) = (&self.kinds[array].shape, self.like(array));
        match random.below(10) {
            0 if like.len() > 1 => Change::Swap(like[0], like[1]),
            1 | 2 => {
                let (lo, hi) = self.room(shape, None);
                let terms = self.terms(random, &like, (&lo, &hi));
                Change::Replace { array, terms }
            }
            _ => {
                let window: Window = match random.below(4) {
                    // The inside, a face or any box.
                    0 | 1 => shape.iter().map(|&n| (1, n - 1)).collect(),
                    2 => {
                        let face = random.below(shape.len() as i64) as usize;
                        let at = if random.one_in(2) { 0 } else { shape[face] - 1 };
                        let span = |d: usize| if d == face { (at, at + 1) } else { (0, shape[d]) };
                        (0..shape.len()).map(span).collect()
                    }
                    _ => {
                        let span = |&n: &i64| {
                            let start = random.below(n);
                            (start, start + 1 + random.below(n - start))
                        };
                        shape.iter().map(span).collect()
                    }
                };
                let (lo, hi) = self.room(shape, Some(&window));
                let both = if like.len() > 1 && random.one_in(3) { like.clone() } else { vec![array] };
                let sums = both.into_iter().map(|to| (to, self.terms(random, &like, (&lo, &hi)))).collect();
                Change::Assign { window, sums }
            }
        }
    }

    /// How far a window, or the whole array, can be read away.
    fn room(&self, shape: &[i64], window: Option<&Window>) -> (Vec<i64>, Vec<i64>) {
        let along = |d: usize| match window {
            Some(window) => ((-window[d].0).max(-2), (shape[d] - window[d].1).min(2)),
            None if self.periodic[d] => (-2, 2),
            None => (0, 0),
        };
        (0..shape.len()).map(along).unzip()
    }

    fn terms(&self, random: &mut Random, like: &[usize], (lo, hi): (&[i64], &[i64])) -> Vec<Term> {
        let count = 1 + random.below(4);
        let term = |_| {
            let mut away = vec![0; lo.len()];
            for _ in 0..1 + random.below(2) {
                let d = random.below(lo.len() as i64) as usize;
                away[d] = lo[d] + random.below(hi[d] - lo[d] + 1);
            }
            let array = like[random.below(like.len() as i64) as usize];
            // Sums stay below 1, and differ in all their bits.
            let factor = (17.0 + random.below(64) as f64) / 81.0 / count as f64;
            Term { array, away, factor: if random.one_in(5) { -factor } else { factor } }
        };
        (0..count).map(term).collect()
    }

    /// What the state is, computed one element after the other.
    pub fn model(&self) -> Vec<Model> {
        let fill = |(k, kind): (usize, &Kind)| {
            let volume = kind.shape.iter().product::<i64>();
            let number = |at: i64| ((at * 37 + 11 * k as i64) % 1009) as f64 / 1009.0;
            Model { kind: kind.clone(), cells: (0..volume).map(|at| kind.rounded(number(at))).collect() }
        };
        self.kinds.iter().enumerate().map(fill).collect()
    }

    pub fn arrays(&self, team: &Team) -> Vec<Array> {
        let array = |model: &Model| {
            let Kind { shape, wide } = &model.kind;
            let periodic = &self.periodic[..shape.len()];
            let dist = Distribution::default_partition(self.parts, shape).unwrap();
            let grid = dist.grid().shape().to_vec();
            let dist = Distribution::builder(shape).grid(&grid).periodic(periodic).build().unwrap();
            match wide {
                true => Array::from_slice(team, &dist, &model.cells).unwrap(),
                false => {
                    let cells: Vec<f32> = model.cells.iter().map(|&cell| cell as f32).collect();
                    Array::from_slice(team, &dist, &cells).unwrap()
                }
            }
        };
        self.model().iter().map(array).collect()
    }
}

impl Kind {
    /// To the type's precision. Products and sums of two floats in double precision round as in single.
    fn rounded(&self, number: f64) -> f64 {
        if self.wide { number } else { f64::from(number as f32) }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    kind: Kind,
    pub cells: Vec<f64>,
}

impl Model {
    fn at(&self, place: &[i64]) -> usize {
        let along = place.iter().zip(&self.kind.shape);
        along.fold(0, |at, (&c, &n)| at * n + c.rem_euclid(n)) as usize
    }
}

/// The points of a window in C order.
fn points(window: &[(i64, i64)]) -> Vec<Vec<i64>> {
    window.iter().fold(vec![Vec::new()], |before, &(start, stop)| {
        let longer =
            |point: &Vec<i64>| (start..stop).map(|c| [&point[..], &[c]].concat()).collect::<Vec<Vec<i64>>>();
        before.iter().flat_map(longer).collect()
    })
}

impl Change {
    pub fn in_model(&self, state: &mut [Model]) {
        let sum = |state: &[Model], to: usize, terms: &[Term], place: &[i64]| {
            let kind = &state[to].kind;
            let read = |term: &Term| {
                let away: Vec<i64> = place.iter().zip(&term.away).map(|(c, by)| c + by).collect();
                let model = &state[term.array];
                kind.rounded(model.cells[model.at(&away)] * kind.rounded(term.factor))
            };
            terms.iter().map(read).reduce(|a, b| kind.rounded(a + b)).unwrap()
        };
        let old = state.to_vec();
        match self {
            Change::Assign { window, sums } => {
                for (to, terms) in sums {
                    for place in points(window) {
                        let at = old[*to].at(&place);
                        state[*to].cells[at] = sum(&old, *to, terms, &place);
                    }
                }
            }
            Change::Replace { array, terms } => {
                let whole: Window = old[*array].kind.shape.iter().map(|&n| (0, n)).collect();
                let cells = points(&whole).iter().map(|place| sum(&old, *array, terms, place)).collect();
                state[*array].cells = cells;
            }
            Change::Swap(a, b) => state.swap(*a, *b),
        }
    }

    pub fn in_arrays(&self, state: &mut [Array]) -> partita::Result<()> {
        match self {
            Change::Assign { window, sums } => {
                let seen = |term: &Term| {
                    let away = window.iter().zip(&term.away).map(|(&(a, b), by)| (a + by, b + by));
                    state[term.array].slice(&spans(away)) * term.factor
                };
                let total = |terms: &[Term]| terms.iter().map(seen).reduce(|a, b| a + b).unwrap();
                let values: Vec<Array> = sums.iter().map(|(_, terms)| total(terms)).collect();
                let spans = spans(window.iter().copied());
                if let ([(to, _)], [value]) = (&sums[..], &values[..]) {
                    return state[*to].assign(&spans, value);
                }
                let chosen = state.iter_mut().enumerate().filter_map(|(k, array)| {
                    let at = sums.iter().position(|(to, _)| *to == k)?;
                    Some((array, &values[at]))
                });
                assign_all(&mut chosen.collect::<Vec<_>>(), &spans)
            }
            Change::Replace { array, terms } => {
                let seen = |term: &Term| {
                    let of = &state[term.array];
                    let is_here = term.away.iter().all(|&by| by == 0);
                    if is_here { of * term.factor } else { of.shift(&term.away) * term.factor }
                };
                state[*array] = terms.iter().map(seen).reduce(|a, b| a + b).unwrap();
                Ok(())
            }
            Change::Swap(a, b) => {
                state.swap(*a, *b);
                Ok(())
            }
        }
    }
}

fn spans(window: impl Iterator<Item = (i64, i64)>) -> Vec<Span> {
    window.map(|(start, stop)| Span::Range { start: Some(start), stop: Some(stop), step: 1 }).collect()
}
