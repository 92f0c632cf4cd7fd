//! The drafts' examples, Heat's, and the rules one by one.

use std::time::Instant;

use partita::index::{DimMap, Distribution};
use partita_interop::distarray;
use partita_interop::partitioned::{Description, Dialect, PartitionLocation, tiles, validate};
use partita_interop::value::{Buffer, Dict, Refusal, Value};

use crate::malformed::{dict, entry, put, remove};

fn partition(start: &[i64], shape: &[i64], data: Value, location: Value) -> (Value, Value) {
    let ints = |values: &[i64]| Value::ints(values.iter().copied());
    let entry = [("start", ints(start)), ("shape", ints(shape)), ("data", data), ("location", location)];
    (Value::None, Value::dict(entry))
}

fn at(position: &[i64], (_, entry): (Value, Value)) -> (Value, Value) {
    (Value::ints(position.iter().copied()), entry)
}

fn described(
    shape: &[i64],
    tiling: &[i64],
    partitions: Vec<(Value, Value)>,
    locals: Option<&[&[i64]]>,
) -> Value {
    let ints = |values: &[i64]| Value::ints(values.iter().copied());
    let mut value = Value::dict([
        ("shape", ints(shape)),
        ("partition_tiling", ints(tiling)),
        ("partitions", Value::Dict(Dict(partitions))),
        ("get", Value::Callable),
    ]);
    if let Some(locals) = locals {
        put(&mut value, "locals", Value::List(locals.iter().map(|at| ints(at)).collect()));
    }
    value
}

fn home(ip: &str, pid: i64, device: Option<&str>) -> Value {
    let tuple = [ip.into(), pid.into()].into_iter().chain(device.map(Value::from));
    Value::List(vec![Value::Tuple(tuple.collect())])
}

fn future() -> Value {
    Value::Other("ObjectRef".into())
}

fn first() -> Value {
    let part = |i: i64| at(&[i], partition(&[16 * i], &[16], future(), home("1.1.1.1", 7755737 + i, None)));
    described(&[64], &[4], (0..4).map(part).collect(), None)
}

fn second() -> Value {
    let part = |i: i64, j: i64, ip: &str, pid: i64| {
        at(&[i, j], partition(&[4 * i, 4 * j], &[4, 4], future(), home(ip, pid, None)))
    };
    let parts = vec![
        part(1, 1, "1.1.1.1", 77463764),
        part(1, 0, "1.1.1.2", 9174756892),
        part(0, 1, "1.1.1.1", 29384572),
        part(0, 0, "1.1.1.2", 847236952),
    ];
    described(&[8, 8], &[2, 2], parts, None)
}

/// The third example as rank 0 says it.
fn third() -> Value {
    let part = |i: i64| {
        let (data, pid) = if i % 2 == 0 {
            (Value::Other("dpnp.ndarray".into()), 29384572)
        } else {
            (Value::None, 575812655)
        };
        let device = format!("kDLOneAPI:{}", i / 2);
        at(&[i, 0], partition(&[2 * i, 0], &[2, 8], data, home("1.1.1.1", pid, Some(&device))))
    };
    described(&[8, 8], &[4, 1], (0..4).map(part).collect(), Some(&[&[0, 0], &[2, 0]]))
}

fn heat() -> Value {
    let part = |r: i64| {
        let data = if r == 1 { Value::Buffer(Buffer::contiguous(&[7, 3, 2], "i", 4)) } else { Value::None };
        let shape = if r == 3 { 6 } else { 7 };
        let (key, mut entry) =
            at(&[r, 0, 0], partition(&[7 * r, 0, 0], &[shape, 3, 2], data, Value::List(vec![r.into()])));
        put(&mut entry, "dtype", Value::Other("torch.int32".into()));
        put(&mut entry, "device", "cpu".into());
        (key, entry)
    };
    described(&[27, 3, 2], &[4, 1, 1], (0..4).map(part).collect(), Some(&[&[1, 0, 0]]))
}

/// An example in the words of the early draft.
fn early(value: Value, starts: impl Fn(usize) -> i64) -> Value {
    let mut value = value;
    let tiling = entry(&mut value, "partition_tiling").clone();
    remove(&mut value, "partition_tiling");
    put(&mut value, "shape", tiling);
    for (i, (_, partition)) in dict(entry(&mut value, "partitions")).0.iter_mut().enumerate() {
        put(partition, "location", if i % 2 == 0 { "1.1.1.2:55667".into() } else { 1.into() });
        crate::malformed::items(entry(partition, "start"))[0] = starts(i).into();
    }
    value
}

fn refused(value: &Value) -> Refusal {
    Description::parse(value).unwrap_err()
}

fn process(part: usize) -> PartitionLocation {
    PartitionLocation::Process { ip: "127.0.0.1".into(), pid: 4000 + part as i64, device: None }
}

#[test]
fn the_three_examples_of_the_draft_and_that_of_heat_are_valid() {
    let read = Description::parse(&first()).unwrap();
    assert_eq!((read.dialect, &read.shape, &read.tiling), (Dialect::Draft, &vec![64], &vec![4]));
    assert_eq!(read.to_distribution().unwrap(), Distribution::default_partition(4, &[64]).unwrap());
    let read = Description::parse(&second()).unwrap();
    let blocks = Distribution::builder(&[8, 8]).grid(&[2, 2]).build().unwrap();
    assert_eq!((read.to_distribution().unwrap(), read.locals), (blocks, None));
    let PartitionLocation::Process { pid, .. } = read.partitions[0].location[0] else { panic!("no process") };
    assert_eq!(pid, 847236952, "entries in any order are put in C order");
    let read = Description::parse(&third()).unwrap();
    assert_eq!(read.locals, Some(vec![0, 2]));
    assert_eq!(read.partitions[3].location[0].device(), "kDLOneAPI:1");
    let read = Description::parse(&heat()).unwrap();
    assert_eq!((read.dialect, read.locals.clone()), (Dialect::Heat, Some(vec![1])));
    assert_eq!(read.partitions[3].location, [PartitionLocation::Rank(3)]);
    // Not distributed, all ranks write the same position, so one rank is named.
    let one = at(&[0], partition(&[0], &[5], future(), Value::List(vec![3.into()])));
    assert!(validate(&described(&[5], &[1], vec![one], Some(&[&[0]]))).0);
}

#[test]
fn two_of_the_three_examples_of_the_early_draft_are_valid() {
    let two = [early(first(), |i| 16 * i as i64), early(second(), |i| if i < 2 { 4 } else { 0 })];
    for value in &two {
        let read = Description::parse(value).unwrap();
        assert_eq!((read.dialect, read.shape.iter().product::<i64>()), (Dialect::Early, 64));
    }
    let gaps = refused(&early(third(), |i| 16 * i as i64));
    assert_eq!(
        gaps.to_string(),
        "__partitioned__ (early draft: no 'partition_tiling', so 'shape' counts partitions) of part 1: \
         partitions[(1, 0)]['start'][0]: expected 2, where the partition before ends; given 16, which leaves \
         a gap"
    );
    assert!(validate(&early(third(), |i| 2 * i as i64)).0);
}

#[test]
fn e_errata_keys_as_the_draft_prints_them_are_refused() {
    // 'shape’ with a typographic quote is another key, or none: it is missing.
    let mut value = second();
    for key in ["shape", "partition_tiling", "partitions"] {
        let old = entry(&mut value, key).clone();
        remove(&mut value, key);
        put(&mut value, &format!("{key}’"), old);
    }
    assert_eq!(refused(&value).to_string(), "__partitioned__: shape: this key is missing");
}

#[test]
fn the_tiling_has_the_rank_of_the_data_and_every_position() {
    let mut value = third();
    put(&mut value, "partition_tiling", Value::ints([4]));
    assert_eq!(refused(&value).path, "partition_tiling");
    let mut value = third();
    dict(entry(&mut value, "partitions")).0.remove(2);
    assert_eq!(refused(&value).to_string(), "__partitioned__: partitions[(2, 0)]: this position is missing");
    let scalar =
        described(&[], &[], vec![at(&[], partition(&[], &[], future(), home("::1", 1, None)))], None);
    assert_eq!(Description::parse(&scalar).unwrap().to_distribution().unwrap().parts(), 1);
    // A grid that nobody could list.
    let mut value = first();
    put(&mut value, "partition_tiling", Value::ints([i64::MAX]));
    assert_eq!(refused(&value).path, "partitions[(4,)]");
}

#[test]
fn exported_partitions_are_owned_cells_without_halos() {
    let dist = Distribution::builder(&[9, 4]).grid(&[3, 1]).halo(&[2, 0], &[2, 0]).build().unwrap();
    let mut said = Description::from_distribution(&dist, process).unwrap();
    for (part, partition) in said.partitions.iter_mut().enumerate() {
        assert_eq!(partition.start, dist.owned(part).start().to_vec());
        assert_eq!(partition.shape, dist.owned(part).extents().to_vec());
        partition.data = future();
    }
    let value = said.to_value(Value::Callable).unwrap();
    let read = Description::parse(&value).unwrap();
    assert_eq!(read, said);
    assert!(read.to_distribution().unwrap().same_layout(&dist));
    said.locals = Some(vec![1]);
    said.partitions[0].data = Value::None;
    assert_eq!(Description::parse(&said.to_value(Value::Callable).unwrap()).unwrap(), said);
}

#[test]
fn locations_are_processes_with_devices_and_several_for_replicas() {
    let dist = Distribution::builder(&[8, 6]).grid(&[2, 3]).replicated(1).build().unwrap();
    let held: Vec<Vec<usize>> = tiles(&dist).unwrap().1.into_iter().map(|(_, parts)| parts).collect();
    assert_eq!(held, [[0, 1, 2], [3, 4, 5]]);
    let said = Description::from_distribution(&dist, |part| PartitionLocation::Process {
        ip: "10.0.0.1".into(),
        pid: part as i64,
        device: Some(format!("kDLCUDA:{part}")),
    });
    let mut said = said.unwrap();
    assert_eq!((said.tiling.clone(), said.partitions[1].location.len()), (vec![2, 1], 3));
    assert_eq!(said.partitions[1].location[0].device(), "kDLCUDA:3");
    said.partitions.iter_mut().for_each(|partition| partition.data = future());
    assert!(validate(&said.to_value(Value::Callable).unwrap()).0);
    assert_eq!(process(0).device(), "kDLCPU");
    // Ranks are read and never written.
    let read = Description::parse(&heat()).unwrap();
    assert_eq!(read.to_value(Value::Callable).unwrap_err().path, "partitions[(0, 0, 0)]['location']");
}

#[test]
fn data_may_be_missing_only_where_it_is_not_local() {
    let with = |mut value: Value, i: usize, data: Value| {
        put(&mut dict(entry(&mut value, "partitions")).0[i].1, "data", data);
        value
    };
    assert_eq!(refused(&with(first(), 2, Value::None)).path, "partitions[(2,)]['data']");
    assert!(validate(&with(third(), 2, Value::Other("dpnp.ndarray".into()))).0);
    let local = refused(&with(third(), 2, Value::None));
    assert_eq!(local.reason, "expected data, as this partition is local; given None");
    assert!(validate(&with(third(), 3, Value::Other("dpnp.ndarray".into()))).0, "more than what is local");
}

#[test]
fn partitions_have_one_type_of_data() {
    let mut value = first();
    put(&mut dict(entry(&mut value, "partitions")).0[3].1, "data", Value::Other("Future".into()));
    let refusal = refused(&value);
    assert_eq!((refusal.path.as_str(), refusal.part), ("partitions[(3,)]['data']", Some(3)));
    assert_eq!(refusal.reason, "expected one type of data, ObjectRef; given Future");
}

#[test]
fn both_protocols_describe_a_regular_grid_alike() {
    for (shape, grid) in
        [(vec![64], vec![4]), (vec![9, 7], vec![2, 3]), (vec![], vec![]), (vec![3, 2], vec![4, 1])]
    {
        let dist = Distribution::builder(&shape).grid(&grid).build().unwrap();
        let parts: Vec<distarray::PartDescription> = (0..dist.parts())
            .map(|part| distarray::PartDescription::from_distribution(&dist, part).unwrap())
            .collect();
        let said = Description::from_distarray(&parts, process).unwrap();
        assert_eq!(said, Description::from_distribution(&dist, process).unwrap());
        assert_eq!(said.to_distarray().unwrap(), parts);
    }
    // What Heat leaves after a selection is uneven: read, and said in the other protocol.
    let mut value = heat();
    for (i, (start, shape)) in [(0, 1), (1, 20), (21, 0), (21, 6)].into_iter().enumerate() {
        let partition = &mut dict(entry(&mut value, "partitions")).0[i].1;
        put(partition, "start", Value::ints([start, 0, 0]));
        put(partition, "shape", Value::ints([shape, 3, 2]));
        put(partition, "data", if i == 1 { future() } else { Value::None });
    }
    let uneven = Description::parse(&value).unwrap();
    let parts = uneven.to_distarray().unwrap();
    assert_eq!(parts[1].shape(), [20, 3, 2]);
    assert_eq!(
        distarray::to_distribution(&parts).unwrap().map(0),
        &DimMap::irregular(&[0, 1, 21, 21, 27]).unwrap()
    );
    assert_eq!(Description::from_distarray(&parts, process).unwrap_err().path, "partition_tiling");
}

#[test]
fn distributions_other_than_regular_grids_are_not_exported() {
    let line = || Distribution::builder(&[12]).parts(3);
    let lists = DimMap::unstructured(&[vec![0, 5], vec![1, 2], vec![4, 3]], true).unwrap();
    let refused = [
        (line().cyclic(0, 1), "cyclic"),
        (line().cyclic(0, 2), "cyclic 2"),
        (Distribution::builder(&[6]).map(0, lists), "unstructured"),
        (line().bounds(0, &[0, 1, 9, 12]), "irregular bounds"),
    ];
    for (builder, why) in refused {
        let refusal = Description::from_distribution(&builder.build().unwrap(), process).unwrap_err();
        assert!(refusal.path == "partition_tiling" && refusal.reason.contains(why), "{refusal}");
    }
    // One block per part is a regular grid, however it is called.
    assert!(Description::from_distribution(&line().cyclic(0, 4).build().unwrap(), process).is_ok());
}

#[test]
fn many_partitions_take_less_than_quadratic_time() {
    let time = |side: i64| {
        let dist = Distribution::builder(&[side * 2, side * 3]).grid(&[side, side]).build().unwrap();
        let mut said = Description::from_distribution(&dist, process).unwrap();
        said.partitions.iter_mut().for_each(|partition| partition.data = future());
        let value = said.to_value(Value::Callable).unwrap();
        let begun = Instant::now();
        let read = Description::parse(&value).unwrap();
        assert_eq!(read.to_distribution().unwrap().parts(), (side * side) as usize);
        begun.elapsed().as_secs_f64()
    };
    let (few, many) = (time(50), time(200));
    println!("partitions: 2500 in {:.1} ms, 40000 in {:.1} ms", few * 1e3, many * 1e3);
    // 16 times as many; quadratic would be 256 times as long.
    assert!(many < 100.0 * few.max(1e-3), "{few} s and {many} s");
}
