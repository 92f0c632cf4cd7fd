//! [`Description`]: an array as a grid of partitions, the [`Dialect`] it is written in, and where a partition
//! can be accessed ([`PartitionLocation`]).

use crate::value::{Refusal, Result, Value};

/// An array as a grid of partitions.
#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    /// The dialect it was read in.
    pub dialect: Dialect,
    /// The number of elements in every dimension.
    pub shape: Vec<i64>,
    /// The number of partitions in every dimension.
    pub tiling: Vec<i64>,
    /// The partitions in C order of their positions.
    pub partitions: Vec<PartitionEntry>,
    /// The partitions that are local, as indices; none where the producer is not SPMD.
    pub locals: Option<Vec<usize>>,
}

/// One partition.
#[derive(Clone, PartialEq, Debug)]
pub struct PartitionEntry {
    /// The first element.
    pub start: Vec<i64>,
    /// The extents.
    pub shape: Vec<i64>,
    /// The data or a reference to it.
    pub data: Value,
    /// The place at which it can be accessed.
    pub location: Vec<PartitionLocation>,
}

impl Description {
    /// The position of a partition in the grid.
    pub fn position(&self, partition: usize) -> Vec<i64> {
        position(&self.tiling, partition)
    }
}

/// The position in a grid of a place in C order.
pub(super) fn position(tiling: &[i64], mut place: usize) -> Vec<i64> {
    let mut position = vec![0; tiling.len()];
    for (at, &n) in position.iter_mut().zip(tiling).rev() {
        *at = place as i64 % n;
        place /= n as usize;
    }
    position
}

/// One of the forms that the draft took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// The last draft: `shape` counts elements, `partition_tiling` counts partitions, and a location is a
    /// tuple (IP, PID[, device]).
    Draft,
    /// Heat's: the same, but locations are ranks. Recognized by a location that is an integer, where none is
    /// a tuple.
    Heat,
    /// The early draft, `__partitioned_interface__`: `shape` counts the partitions, and there is one
    /// location, a string or a rank. Recognized by the absence of `partition_tiling`.
    Early,
}

impl Dialect {
    /// The words that refusals begin with.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Draft => "__partitioned__",
            Dialect::Heat => "__partitioned__ (with ranks as locations, like Heat's)",
            Dialect::Early => {
                "__partitioned__ (early draft: no 'partition_tiling', so 'shape' counts partitions)"
            }
        }
    }
}

/// The place at which a partition can be accessed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PartitionLocation {
    /// A process on a node, and a device of it.
    Process {
        /// The address of the node.
        ip: String,
        /// The operating system's number of the process.
        pid: i64,
        /// A device in DLPack's words: `kDLCUDA:0`. None is `kDLCPU`.
        device: Option<String>,
    },
    /// A rank: Heat's dialect and the early draft.
    Rank(i64),
    /// A node or a worker by its name: the early draft.
    Name(String),
}

/// The device types of DLPack.
const DEVICES: [&str; 16] = [
    "kDLCPU",
    "kDLCUDA",
    "kDLCUDAHost",
    "kDLOpenCL",
    "kDLVulkan",
    "kDLMetal",
    "kDLVPI",
    "kDLROCM",
    "kDLROCMHost",
    "kDLExtDev",
    "kDLCUDAManaged",
    "kDLOneAPI",
    "kDLWebGPU",
    "kDLHexagon",
    "kDLMAIA",
    "kDLTrn",
];

impl PartitionLocation {
    /// The device in DLPack's words.
    pub fn device(&self) -> &str {
        match self {
            PartitionLocation::Process { device: Some(device), .. } => device,
            _ => "kDLCPU",
        }
    }

    /// Reads the value of `location`.
    pub(super) fn parse_all(value: &Value, dialect: Dialect) -> Result<Vec<PartitionLocation>> {
        let one = match dialect {
            Dialect::Early => return Ok(vec![early(value)?]),
            Dialect::Heat => rank,
            Dialect::Draft => process,
        };
        let items = value.as_sequence("locations")?;
        if items.is_empty() {
            return Err(Refusal::expected("at least one location", "none"));
        }
        let read = |(i, item)| one(item).map_err(|refusal: Refusal| refusal.under_index(i));
        items.iter().enumerate().map(read).collect()
    }

    /// The location in the words of the last draft.
    pub(super) fn to_value(&self) -> Result<Value> {
        match self {
            PartitionLocation::Process { ip, pid, device } => {
                let pair = [ip.as_str().into(), (*pid).into()];
                let device = device.as_deref().map(Value::from);
                Ok(Value::Tuple(pair.into_iter().chain(device).collect()))
            }
            PartitionLocation::Rank(rank) => {
                Err(Refusal::expected("(IP, PID[, device])", format!("rank {rank}")))
            }
            PartitionLocation::Name(name) => {
                Err(Refusal::expected("(IP, PID[, device])", format!("'{name}'")))
            }
        }
    }
}

fn rank(value: &Value) -> Result<PartitionLocation> {
    Ok(PartitionLocation::Rank(value.as_int_in(0..=i64::MAX, "")?))
}

fn early(value: &Value) -> Result<PartitionLocation> {
    match value {
        Value::Str(_) => Ok(PartitionLocation::Name(name(value)?)),
        Value::Int(_) | Value::HugeInt => rank(value),
        _ => Err(value.refuse("a str or a rank")),
    }
}

fn name(value: &Value) -> Result<String> {
    match value.as_str()? {
        "" => Err(value.refuse("an address")),
        text => Ok(text.to_owned()),
    }
}

fn process(value: &Value) -> Result<PartitionLocation> {
    let items = match value {
        Value::Tuple(items) if (2..=3).contains(&items.len()) => items,
        _ => return Err(value.refuse("a tuple (IP, PID[, device])")),
    };
    let ip = name(&items[0]).map_err(|refusal| refusal.under_index(0))?;
    let pid = items[1].as_int_in(0..=i64::MAX, "").map_err(|refusal| refusal.under_index(1))?;
    let device = items.get(2).map(device).transpose().map_err(|refusal| refusal.under_index(2))?;
    Ok(PartitionLocation::Process { ip, pid, device })
}

/// `kDLCPU` or `kDLCUDA:0`.
fn device(value: &Value) -> Result<String> {
    let text = value.as_str()?;
    let (kind, index) = text.split_once(':').map_or((text, None), |(kind, index)| (kind, Some(index)));
    let numbered =
        index.is_none_or(|i| !i.is_empty() && i.len() < 10 && i.bytes().all(|b| b.is_ascii_digit()));
    match DEVICES.contains(&kind) && numbered {
        true => Ok(text.to_owned()),
        false => Err(value.refuse("a device in DLPack's words, such as 'kDLCUDA:0'")),
    }
}
