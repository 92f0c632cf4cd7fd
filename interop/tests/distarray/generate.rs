//! Random valid sets of descriptions, written from the protocol's text and not by the exporter, together with
//! what every part holds.

use partita_interop::value::{Buffer, Dict, IndexArray, Value};

use crate::malformed::{Random, dict, entry, int, items, put};

/// One dimension: what every grid rank says and holds.
#[derive(Clone, Debug)]
pub struct Column {
    pub dist_type: &'static str,
    pub entries: Vec<Value>,
    /// Extents of the buffers.
    pub extents: Vec<i64>,
    /// What every grid rank owns: block and cyclic indices (from 0 on, also on a ring), or names.
    pub owned: Vec<Vec<i64>>,
    /// Whether some block has padding.
    pub padded: bool,
    /// Whether some entry is the empty alias.
    pub alias: bool,
}

/// The descriptions of all parts of one array.
#[derive(Clone, Debug)]
pub struct Set {
    pub parts: Vec<Value>,
    pub columns: Vec<Column>,
}

fn common(dist_type: &str, size: i64, parts: i64, rank: i64) -> Vec<(Value, Value)> {
    vec![
        ("dist_type".into(), dist_type.into()),
        ("size".into(), size.into()),
        ("proc_grid_size".into(), parts.into()),
        ("proc_grid_rank".into(), rank.into()),
    ]
}

fn block(random: &mut Random) -> Column {
    let parts = random.pick(&[1, 1, 2, 2, 3, 4]).unwrap();
    let counts: Vec<i64> = (0..parts).map(|_| random.among(0..=5)).collect();
    let (periodic, padded) = (random.chance(30), random.chance(50));
    let last = parts as usize - 1;
    let mut seams: Vec<i64> = counts.windows(2).map(|pair| random.among(0..=pair[0].min(pair[1]))).collect();
    if !padded {
        seams.fill(0);
    }
    // On a ring these are copies from the other end, otherwise boundary.
    let (lo, hi) = match (padded, periodic) {
        (false, _) => (0, 0),
        // A part that owns nothing has no copies either: descriptions may say so, distributions do not.
        (true, true) => {
            let copies = |owner: i64, holder: i64| if holder > 0 { owner } else { 0 };
            let (lo, hi) = (copies(counts[last], counts[0]), copies(counts[0], counts[last]));
            (random.among(0..=lo), random.among(0..=hi))
        }
        (true, false) => {
            let lo = random.among(0..=counts[0]);
            (lo, random.among(0..=if last == 0 { counts[0] - lo } else { counts[last] }))
        }
    };
    let (before, after) = if periodic { (lo, hi) } else { (0, 0) };
    let size = counts.iter().sum::<i64>() + before + after;
    let mut column = Column::of("b", padded);
    let mut next = before;
    for (rank, count) in counts.iter().enumerate() {
        let left = if rank > 0 { seams[rank - 1] } else { lo };
        let right = if rank < last { seams[rank] } else { hi };
        let start = next - if rank > 0 { left } else { before };
        let stop = next + count + if rank < last { right } else { after };
        column.owned.push((next - before..next - before + count).collect());
        next += count;
        let mut dim = common("b", size, parts, rank as i64);
        dim.extend([("start".into(), start.into()), ("stop".into(), stop.into())]);
        if (left, right) != (0, 0) || random.chance(30) {
            let pair = vec![left.into(), right.into()];
            let pair = if random.chance(30) { Value::List(pair) } else { Value::Tuple(pair) };
            dim.push(("padding".into(), pair));
        }
        if periodic || random.chance(30) {
            dim.push(("periodic".into(), periodic.into()));
        }
        column.push(dim, stop - start, random);
    }
    if parts == 1 && (lo, hi) == (0, 0) && !periodic && random.chance(40) {
        column.entries[0] = Value::Dict(Dict::default());
        column.alias = true;
    }
    column
}

fn cyclic(random: &mut Random) -> Column {
    let (parts, size, block) = (random.among(1..=4), random.among(0..=14), random.among(1..=4));
    let mut turns: Vec<i64> = (0..parts).collect();
    if random.chance(50) {
        random.shuffle(&mut turns);
    }
    let mut column = Column::of("c", false);
    for (rank, turn) in turns.iter().enumerate() {
        let owned: Vec<i64> = (0..size).filter(|i| i / block % parts == *turn).collect();
        let rank = rank as i64;
        let empty = if rank * block >= size && random.chance(50) { rank * block } else { size };
        let mut dim = common("c", size, parts, rank);
        dim.push(("start".into(), owned.first().copied().unwrap_or(empty).into()));
        if block > 1 || random.chance(30) {
            dim.push(("block_size".into(), block.into()));
        }
        let extent = owned.len() as i64;
        column.owned.push(owned);
        column.push(dim, extent, random);
    }
    column
}

fn unstructured(random: &mut Random) -> Column {
    let (parts, most) = (random.among(1..=4), random.among(0..=9));
    let once = random.chance(50);
    let mut names: Vec<i64> = (0..most).map(|i| if once { i } else { i * i - 20 }).collect();
    random.shuffle(&mut names);
    let mut owned = vec![Vec::new(); parts as usize];
    for name in names {
        let first = random.among(0..=parts - 1) as usize;
        for (rank, list) in owned.iter_mut().enumerate() {
            if rank == first || (!once && random.chance(25)) {
                list.push(name);
            }
        }
    }
    let total = owned.iter().map(Vec::len).sum::<usize>() as i64;
    let size = if random.chance(50) { total } else { most };
    let mut column = Column::of("u", false);
    for (rank, list) in owned.iter_mut().enumerate() {
        random.shuffle(list);
        let mut dim = common("u", size, parts, rank as i64);
        let (shape, data) = (vec![list.len() as i64], Some(list.clone()));
        dim.push(("indices".into(), Value::Array(IndexArray { dtype: "uint32".into(), shape, data })));
        if once || random.chance(30) {
            dim.push(("one_to_one".into(), once.into()));
        }
        column.push(dim, list.len() as i64, random);
    }
    column.owned = owned;
    column
}

impl Column {
    fn of(dist_type: &'static str, padded: bool) -> Column {
        Column { dist_type, entries: vec![], extents: vec![], owned: vec![], padded, alias: false }
    }

    fn push(&mut self, mut entries: Vec<(Value, Value)>, extent: i64, random: &mut Random) {
        random.shuffle(&mut entries);
        self.entries.push(Value::Dict(Dict(entries)));
        self.extents.push(extent);
    }
}

/// A set of at most 24 parts in up to three dimensions.
pub fn set(random: &mut Random) -> Set {
    loop {
        let rank = random.pick(&[0, 1, 1, 1, 2, 2, 2, 3]).unwrap();
        let columns: Vec<Column> = (0..rank)
            .map(|_| match random.among(0..=5) {
                0..=2 => block(random),
                3..=4 => cyclic(random),
                _ => unstructured(random),
            })
            .collect();
        let parts: usize = columns.iter().map(|column| column.entries.len()).product();
        if parts > 24 {
            continue;
        }
        let part = |part: usize, random: &mut Random| {
            let at = coordinate(&columns, part);
            let shape: Vec<i64> =
                columns.iter().zip(&at).map(|(column, &rank)| column.extents[rank]).collect();
            let dims = columns.iter().zip(&at).map(|(column, &rank)| column.entries[rank].clone());
            Value::dict([
                ("__version__", random.pick(&["0.10.0", "0.9.2", "0.11.30"]).unwrap().into()),
                ("buffer", Value::Buffer(Buffer::contiguous(&shape, "f", 4))),
                ("dim_data", Value::Tuple(dims.collect())),
            ])
        };
        let parts = (0..parts).map(|k| part(k, random)).collect();
        return Set { parts, columns };
    }
}

fn coordinate(columns: &[Column], mut part: usize) -> Vec<usize> {
    let mut at = vec![0; columns.len()];
    for (at, column) in at.iter_mut().zip(columns).rev() {
        *at = part % column.entries.len();
        part /= column.entries.len();
    }
    at
}

/// The path of a key in a refusal.
pub fn path(d: usize, key: &str) -> String {
    format!("dim_data[{d}]['{key}']")
}

impl Set {
    /// A part and a dimension.
    pub fn place(&self, random: &mut Random) -> Option<(usize, usize)> {
        self.place_where(random, |_| true)
    }

    /// A part and a dimension of a kind, spelled out.
    pub fn place_of(&self, dist_type: &str, random: &mut Random) -> Option<(usize, usize)> {
        self.place_where(random, |column| column.dist_type == dist_type && !column.alias)
    }

    pub fn place_where(&self, random: &mut Random, fits: impl Fn(&Column) -> bool) -> Option<(usize, usize)> {
        let dims: Vec<usize> = (0..self.columns.len()).filter(|&d| fits(&self.columns[d])).collect();
        Some((random.among(0..=self.parts.len() as i64 - 1) as usize, random.pick(&dims)?))
    }

    pub fn rank(&self, part: usize, d: usize) -> usize {
        coordinate(&self.columns, part)[d]
    }

    /// The parts of one grid rank.
    pub fn of_rank(&self, d: usize, rank: usize) -> Vec<usize> {
        (0..self.parts.len()).filter(|&part| self.rank(part, d) == rank).collect()
    }

    pub fn dim(&mut self, part: usize, d: usize) -> &mut Value {
        &mut items(entry(&mut self.parts[part], "dim_data"))[d]
    }

    pub fn has(&mut self, part: usize, d: usize, key: &str) -> bool {
        dict(self.dim(part, d)).get(key).is_some()
    }

    pub fn int(&mut self, part: usize, d: usize, key: &str) -> i64 {
        int(entry(self.dim(part, d), key))
    }

    pub fn put(&mut self, part: usize, d: usize, key: &str, value: Value) {
        put(self.dim(part, d), key, value);
    }

    pub fn add(&mut self, part: usize, d: usize, key: &str, change: i64) {
        let value = self.int(part, d, key) + change;
        self.put(part, d, key, value.into());
    }

    pub fn buffer(&mut self, part: usize) -> &mut Buffer {
        match entry(&mut self.parts[part], "buffer") {
            Value::Buffer(buffer) => buffer,
            other => panic!("no buffer: {other:?}"),
        }
    }

    /// Gives the buffer another extent, so that only the entry is at fault.
    pub fn resize(&mut self, part: usize, d: usize, change: i64) {
        let buffer = self.buffer(part);
        let mut shape = buffer.shape.clone();
        shape[d] += change;
        *buffer = Buffer::contiguous(&shape, &buffer.format, buffer.itemsize);
    }
}
