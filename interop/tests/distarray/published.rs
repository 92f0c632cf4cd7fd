//! The examples of the Distributed Array Protocol, with a verdict on each.

use partita::index::Distribution;
use partita_interop::distarray::{PartDescription, parse_all, to_distribution, validate};
use partita_interop::value::{Buffer, Dict, IndexArray, Value};

fn common(dist_type: &str, (rank, parts): (i64, i64), size: i64) -> Vec<(&'static str, Value)> {
    vec![
        ("dist_type", dist_type.into()),
        ("proc_grid_rank", rank.into()),
        ("proc_grid_size", parts.into()),
        ("size", size.into()),
    ]
}

pub fn dim(dist_type: &str, at: (i64, i64), size: i64, own: &[(&'static str, Value)]) -> Value {
    let entries = [common(dist_type, at, size), own.to_vec()].concat();
    Value::Dict(Dict(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
}

pub fn b(at: (i64, i64), size: i64, start: i64, stop: i64) -> Value {
    dim("b", at, size, &[("start", start.into()), ("stop", stop.into())])
}

pub fn padded(at: (i64, i64), size: i64, range: (i64, i64), padding: (i64, i64), periodic: bool) -> Value {
    let own = [
        ("start", range.0.into()),
        ("stop", range.1.into()),
        ("padding", Value::ints([padding.0, padding.1])),
        ("periodic", periodic.into()),
    ];
    dim("b", at, size, &own)
}

pub fn c(at: (i64, i64), size: i64, start: i64, block_size: i64) -> Value {
    dim("c", at, size, &[("start", start.into()), ("block_size", block_size.into())])
}

pub fn u(at: (i64, i64), size: i64, indices: &[i64]) -> Value {
    let (shape, data) = (vec![indices.len() as i64], Some(indices.to_vec()));
    dim("u", at, size, &[("indices", Value::Array(IndexArray { dtype: "int64".into(), shape, data }))])
}

pub fn part_of(version: &str, shape: &[i64], dims: &[Value]) -> Value {
    Value::dict([
        ("buffer", Value::Buffer(Buffer::contiguous(shape, "d", 8))),
        ("dim_data", Value::Tuple(dims.to_vec())),
        ("__version__", version.into()),
    ])
}

pub fn part(shape: &[i64], dims: &[Value]) -> Value {
    part_of("0.10.0", shape, dims)
}

/// One dimension: what every grid rank says and holds.
type Column = Vec<(Value, Vec<i64>)>;

/// All parts over the grid of some dimensions, each with its entries and what each grid rank holds.
fn product(version: &str, dims: &[Column]) -> Vec<Value> {
    dims.iter()
        .fold(vec![(vec![], vec![])], |parts: Vec<(Vec<i64>, Vec<Value>)>, column| {
            let with = |(shape, dims): &(Vec<i64>, Vec<Value>)| {
                let (shape, dims) = (shape.clone(), dims.clone());
                column.iter().map(move |(dim, held)| {
                    let shape = [shape.clone(), vec![held.len() as i64]].concat();
                    (shape, [dims.clone(), vec![dim.clone()]].concat())
                })
            };
            parts.iter().flat_map(with).collect()
        })
        .iter()
        .map(|(shape, dims)| part_of(version, shape, dims))
        .collect()
}

fn holds(dist: &Distribution, dims: &[Column]) {
    for part in 0..dist.parts() {
        let at = dist.grid().coordinate(part);
        for (d, set) in dist.owned_set(part).unwrap().iter().enumerate() {
            assert_eq!(
                set.iter().collect::<Vec<_>>(),
                dims[d][at[d] as usize].1,
                "part {part}, dimension {d}"
            );
        }
    }
}

fn r(range: std::ops::Range<i64>) -> Vec<i64> {
    range.collect()
}

/// The nine examples: the entries as published, and which rows and columns the published buffers hold.
fn nine() -> Vec<Vec<Column>> {
    let whole = |size| vec![(b((0, 1), size, 0, size), r(0..size))];
    let two =
        |size, cut| vec![(b((0, 2), size, 0, cut), r(0..cut)), (b((1, 2), size, cut, size), r(cut..size))];
    let by_3 = |size, a, z| {
        vec![
            (b((0, 3), size, 0, a), r(0..a)),
            (b((1, 3), size, a, z), r(a..z)),
            (b((2, 3), size, z, size), r(z..size)),
        ]
    };
    let dealt = |size, held: [&[i64]; 2]| {
        vec![(c((0, 2), size, 0, 1), held[0].to_vec()), (c((1, 2), size, 1, 1), held[1].to_vec())]
    };
    let by_two = |size, held: [&[i64]; 2]| {
        vec![(c((0, 2), size, 0, 2), held[0].to_vec()), (c((1, 2), size, 2, 2), held[1].to_vec())]
    };
    let listed = |size, held: [&[i64]; 2]| -> Column {
        let entry = |rank: usize| (u((rank as i64, 2), size, held[rank]), held[rank].to_vec());
        vec![entry(0), entry(1)]
    };
    let nine: [&[i64]; 2] = [&[0, 2, 4, 6, 8], &[1, 3, 5, 7]];
    vec![
        vec![by_3(5, 2, 4), whole(9)],
        vec![whole(5), by_3(9, 3, 6)],
        vec![two(5, 3), two(9, 5)],
        vec![two(5, 3), dealt(9, nine)],
        vec![dealt(5, [&[0, 2, 4], &[1, 3]]), dealt(9, nine)],
        vec![two(5, 1), two(9, 2)],
        vec![by_two(5, [&[0, 1, 4], &[2, 3]]), by_two(9, [&[0, 1, 4, 5, 8], &[2, 3, 6, 7]])],
        vec![listed(5, [&[3, 0], &[4, 2, 1]]), listed(9, [&[2, 3, 7, 1], &[6, 5, 8, 0, 4]])],
        vec![dealt(5, [&[0, 2, 4], &[1, 3]]), two(9, 5), dealt(3, [&[0, 2], &[1]])],
    ]
}

#[test]
fn the_nine_published_examples_are_valid() {
    for (number, dims) in nine().iter().enumerate() {
        let parts = parse_all(&product("0.10.0", dims)).unwrap_or_else(|e| panic!("example {number}: {e}"));
        assert_eq!(parts.len(), [3, 3, 4, 4, 4, 4, 4, 4, 8][number]);
        holds(&to_distribution(&parts).unwrap(), dims);
    }
}

#[test]
fn the_published_examples_as_version_1_are_of_another_major_version() {
    for dims in nine() {
        let refusal = parse_all(&product("1.0.0", &dims)).unwrap_err();
        assert_eq!((refusal.path.as_str(), refusal.part), ("__version__", Some(0)));
    }
    let shown = parse_all(&product("1.0.0", &nine()[0])).unwrap_err().to_string();
    assert_eq!(
        shown,
        "__distarray__ of part 0: __version__: expected a version 0.x.y; another major version may mean \
         other things; given '1.0.0'"
    );
}

#[test]
fn a_errata_iv_the_examples_print_padding_as_a_list() {
    let dims = |padding: Value| {
        [b((0, 1), 5, 0, 5), b((0, 1), 9, 0, 9)].map(|mut dim| {
            crate::malformed::put(&mut dim, "padding", padding.clone());
            dim
        })
    };
    let listed = Value::List(vec![0.into(), 0.into()]);
    assert!(
        validate(&part(&[5, 9], &dims(listed))).0 && validate(&part(&[5, 9], &dims(Value::ints([0, 0])))).0
    );
}

#[test]
fn the_first_written_example_has_a_buffer_of_one_dimension_too_few() {
    let dims = |rank| [b((rank, 2), 2, rank, rank + 1), b((0, 1), 10, 0, 10)];
    let (valid, reason) = validate(&part(&[10], &dims(0)));
    assert!(!valid);
    assert_eq!(
        reason,
        "__distarray__: dim_data: expected 1 entries, one per dimension of the buffer; given 2"
    );
    assert!(parse_all(&[part(&[1, 10], &dims(0)), part(&[1, 10], &dims(1))]).is_ok());
}

#[test]
fn the_padded_example_owns_its_boundary_but_not_its_copies() {
    let dim = |rank: i64| padded((rank, 2), 18, (8 * rank, 10 + 8 * rank), (1, 1), false);
    // Printed without the comma that makes a tuple of it.
    let mut printed = part(&[10], &[dim(0)]);
    crate::malformed::put(&mut printed, "dim_data", dim(0));
    assert_eq!(PartDescription::parse(&printed).unwrap_err().path, "dim_data");
    let parts = parse_all(&[part(&[10], &[dim(0)]), part(&[10], &[dim(1)])]).unwrap();
    let dist = to_distribution(&parts).unwrap();
    assert_eq!((dist.shape()[0], dist.boundary().0[0], dist.boundary().1[0]), (18, 1, 1));
    let owned = |part: usize| (dist.owned(part).start()[0], dist.owned(part).stop()[0]);
    let stored = |part: usize| (dist.stored(part).start()[0], dist.stored(part).stop()[0]);
    assert_eq!([owned(0), owned(1)], [(0, 9), (9, 18)]);
    assert_eq!([stored(0), stored(1)], [(0, 10), (8, 18)]);
}

#[test]
fn the_unstructured_example_is_valid() {
    let lists: [&[i64]; 3] = [
        &[19, 1, 0, 12, 2, 15, 4],
        &[6, 13, 3],
        &[10, 25, 5, 21, 7, 18, 11, 26, 29, 24, 23, 28, 14, 20, 9, 16, 27, 8, 17, 22],
    ];
    let one = |rank: usize| part(&[lists[rank].len() as i64], &[u((rank as i64, 3), 30, lists[rank])]);
    let dist = to_distribution(&parse_all(&[one(0), one(1), one(2)]).unwrap()).unwrap();
    assert_eq!((dist.shape()[0], dist.owner(&[22]).unwrap()), (30, 2));
}

#[test]
fn earlier_drafts_of_the_protocol_are_rejected_by_name() {
    let undistributed = dim("n", (0, 1), 9, &[]);
    let (valid, reason) = validate(&part(&[2, 9], &[b((0, 1), 2, 0, 2), undistributed]));
    assert!(!valid);
    assert_eq!(
        reason,
        "__distarray__: dim_data[1]['dist_type']: expected 'b', 'c' or 'u'; an undistributed dimension is \
         {}; given 'n'"
    );
    // Over four processes, of which it prints three: the last is empty.
    let rows = [(0, 2), (2, 4), (4, 5), (5, 5)];
    let row = |rank: usize| {
        let (start, stop) = rows[rank];
        part(&[stop - start, 9], &[b((rank as i64, 4), 5, start, stop), b((0, 1), 9, 0, 9)])
    };
    let refusal = parse_all(&[row(0), row(1), row(2)]).unwrap_err();
    assert_eq!(refusal.reason, "expected 4 descriptions, one per place of the grid [4, 1]; given 3");
    assert!(parse_all(&[row(0), row(1), row(2), row(3)]).is_ok());
    // Its padded example does not overlap, so that nobody owns index 2.
    let dims = |rank: i64| [padded((rank, 2), 5, [(0, 2), (2, 5)][rank as usize], (1, 1), false)];
    let refusal = parse_all(&[part(&[2], &dims(0)), part(&[3], &dims(1))]).unwrap_err();
    assert_eq!((refusal.path.as_str(), refusal.part), ("dim_data[0]['start']", Some(1)));
    assert!(refusal.reason.contains("a gap"), "{refusal}");
}

#[test]
fn verdicts_agree_with_the_tests_of_the_published_validator() {
    let bytes = |n: i64, dims: &[Value]| {
        let mut value = part(&[], dims);
        crate::malformed::put(&mut value, "buffer", Value::Buffer(Buffer::contiguous(&[n], "B", 1)));
        value
    };
    let ring = dim(
        "b",
        (0, 1),
        10,
        &[
            ("start", 0.into()),
            ("stop", 10.into()),
            ("padding", Value::ints([2, 2])),
            ("periodic", true.into()),
        ],
    );
    let valid = [
        ("block", part(&[10], &[b((0, 2), 50, 0, 10)])),
        ("unstructured", part(&[7], &[u((1, 2), 50, &[1, 22, 44, 49, 9, 33, 21])])),
        ("extra process", bytes(1, &[dim("c", (0, 4), 3, &[("start", 0.into())])])),
        ("empty process", bytes(0, &[dim("c", (3, 4), 3, &[("start", 3.into())])])),
        ("alias", bytes(0, &[Value::Dict(Dict::default())])),
        ("undistributed, padded, periodic", part(&[10], &[ring])),
        // Its buffers of 50 cells are 25 too long, which it does not see.
        ("cyclic", part(&[25], &[dim("c", (0, 2), 50, &[("start", 0.into())])])),
        ("block-cyclic", part(&[25], &[c((1, 2), 50, 5, 5)])),
    ];
    for (name, value) in valid {
        assert_eq!(validate(&value), (true, String::new()), "{name}");
    }
    let text = dim(
        "b",
        (0, 2),
        50,
        &[("start", 0.into()), ("stop", 10.into()), ("padding", Value::Tuple(vec!["a".into(), "b".into()]))],
    );
    let list = Value::List([1, 2, 3, 4].map(Value::from).to_vec());
    let refused = [
        ("buffer", part(&[50], &[dim("c", (0, 2), 50, &[("start", 0.into())])])),
        ("buffer", part(&[50], &[c((1, 2), 50, 5, 5)])),
        ("__version__", part_of("v1.0.0alpha", &[0], &[c((3, 4), 3, 3, 1)])),
        ("dim_data[0]['dist_type']", part(&[51], &[dim("q", (0, 2), 50, &[])])),
        ("dim_data[0]['stop']", part(&[51], &[b((0, 2), 50, 0, 51)])),
        ("dim_data[0]['start']", part(&[0], &[b((0, 2), 50, 10, 9)])),
        ("dim_data[0]['start']", part(&[11], &[b((0, 2), 50, -1, 10)])),
        ("dim_data[0]['padding'][0]", part(&[10], &[text])),
        ("dim_data[0]['block_size']", part(&[10], &[c((0, 3), 100, 0, -10)])),
        ("dim_data[0]['indices']", part(&[4], &[dim("u", (0, 2), 100, &[("indices", list)])])),
    ];
    for (path, value) in refused {
        assert_eq!(PartDescription::parse(&value).unwrap_err().path, path);
    }
}

#[test]
fn sixteen_faults_that_the_published_validator_accepts_are_rejected() {
    let mut refused = 0;
    let block = |key: &'static str, value: Value| {
        let mut dim = padded((1, 3), 30, (9, 21), (1, 1), false);
        crate::malformed::put(&mut dim, key, value);
        part(&[12], &[dim])
    };
    let list = |dtype: &str, data: Option<Vec<i64>>| {
        let indices = Value::Array(IndexArray { dtype: dtype.into(), shape: vec![3], data });
        part(&[3], &[dim("u", (0, 2), 6, &[("indices", indices)])])
    };
    let huge = || Value::Int(1 << 70);
    let mut block_size = c((0, 2), 30, 0, 1);
    crate::malformed::put(&mut block_size, "block_size", huge());
    let sixteen = [
        ("a negative rank", "dim_data[0]['proc_grid_rank']", block("proc_grid_rank", (-1).into())),
        ("a bool rank", "dim_data[0]['proc_grid_rank']", block("proc_grid_rank", true.into())),
        ("negative padding", "dim_data[0]['padding'][0]", block("padding", Value::ints([-1, 0]))),
        ("padding beyond the buffer", "dim_data[0]['padding'][0]", block("padding", Value::ints([13, 0]))),
        ("size -5", "dim_data[0]['size']", block("size", (-5).into())),
        ("size 'abc'", "dim_data[0]['size']", block("size", "abc".into())),
        ("size 2^70", "dim_data[0]['size']", block("size", huge())),
        ("block_size 2^70", "dim_data[0]['block_size']", part(&[15], &[block_size])),
        ("another extent", "buffer", block("stop", 20.into())),
        ("periodic 'yes'", "dim_data[0]['periodic']", block("periodic", "yes".into())),
        ("indices twice", "dim_data[0]['indices']", list("int64", Some(vec![1, 2, 1]))),
        ("float indices", "dim_data[0]['indices']", list("float64", None)),
        ("indices and another shape", "buffer", part(&[4], &[u((0, 2), 9, &[1, 2, 3])])),
        ("no dist_type", "dim_data[0]['dist_type']", part(&[4], &[Value::dict([("size", 4.into())])])),
        ("a version that is no str", "__version__", {
            let mut value = part(&[4], &[b((0, 1), 4, 0, 4)]);
            crate::malformed::put(&mut value, "__version__", Value::Float(0.1));
            value
        }),
        ("no dict", "", Value::None),
    ];
    println!("refused  where                        what");
    for (name, path, value) in sixteen {
        let refusal = PartDescription::parse(&value).unwrap_err();
        assert_eq!(refusal.path, path, "{name}: {refusal}");
        println!("yes      {path:27}  {name}");
        refused += 1;
    }
    assert_eq!(refused, 16);
}
