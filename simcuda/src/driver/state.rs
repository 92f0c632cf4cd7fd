//! All state of the simulated driver: devices, streams, events, memory, modules, graphs. It knows how handles
//! become objects and which errors stay. The calls are in `calls`.

use super::abi::{self, Code, HandleKind, Opaque, Outcome};
use super::config::Config;
use super::exchange::Exchange;
use super::memory::DriverMemory;
use super::order::{AccessHistory, Clock};
use super::work::{Capture, Graph, Membership, Operation};
use crate::ptx::Program;
use crate::random::Random;
use crate::report::Reporter;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::thread::ThreadId;

/// The simulated driver.
pub struct Driver {
    pub config: Config,
    /// The process it runs in.
    pub process: u32,
    pub random: Random,
    pub report: Reporter,
    pub devices: Vec<Device>,
    pub streams: Vec<Stream>,
    /// The streams with something queued.
    pub busy: BTreeSet<usize>,
    pub events: Vec<Option<Event>>,
    pub modules: Vec<Option<Module>>,
    pub functions: Vec<KernelFunction>,
    pub captures: Vec<Option<Capture>>,
    pub graphs: Vec<Option<Graph>>,
    pub execs: Vec<Option<Exec>>,
    pub memory: DriverMemory,
    pub shadow: AccessHistory,
    pub exchange: Exchange,
    pub words: Words,
    /// The work that the host has waited for.
    pub host: Clock,
    /// The number of times that it waited for work.
    pub host_waits: u64,
    /// Simulated nanoseconds that the operation under way takes.
    pub took: u64,
    /// Whether `cuInit` was called.
    pub initialised: bool,
    /// The number of calls of each symbol.
    pub calls: HashMap<&'static str, u64>,
}

/// What is known of the words that streams wait for and write; see `run/words.rs`.
#[derive(Default)]
pub struct Words {
    /// By address: how often a word was put when a wait for it last ended.
    pub passed: HashMap<u64, u64>,
    /// By address: how often words that no other process shares were put.
    pub puts: HashMap<u64, u64>,
    /// Whether some word was set to release its waiters for good.
    pub are_released: bool,
}

/// One device and its primary context, the only kind there is.
#[derive(Default)]
pub struct Device {
    /// The number of times that the primary context is retained.
    pub retained: u32,
    /// Whether the device is gone for good.
    pub lost: bool,
    /// The error that every call reports.
    pub fault: Option<Code>,
    /// The devices whose memory kernels here may use.
    pub peers: BTreeSet<usize>,
    /// The legacy default stream, once used.
    pub legacy: Option<usize>,
    /// The default stream of each thread, once used.
    pub per_thread: HashMap<ThreadId, usize>,
}

/// The order of a stream with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamOrder {
    /// The legacy default stream: with every blocking stream.
    Legacy,
    /// With the legacy default stream.
    Blocking,
    /// By events only.
    NonBlocking,
    /// A branch of a graph being launched: by the graph's edges only.
    Branch,
}

/// A queue of operations.
pub struct Stream {
    pub device: usize,
    pub order: StreamOrder,
    pub queue: VecDeque<Operation>,
    /// The number of operations ever queued.
    pub queued: u64,
    /// The number of operations done.
    pub done: u64,
    /// When each of these ended, in simulated nanoseconds since the start.
    pub ends: Vec<u64>,
    /// The work that the next operation comes after.
    pub clock: Clock,
    /// The capture this stream is part of.
    pub capture: Option<Membership>,
    pub alive: bool,
}

/// The last record of an event.
#[derive(Clone)]
pub enum Record {
    /// Nothing yet: waits do nothing.
    Never,
    /// Everything that `clock` covers.
    Work { clock: Clock, generation: u64 },
    /// Nodes of a capture.
    Captured { capture: usize, nodes: Vec<usize> },
}

/// `CUevent`.
pub struct Event {
    pub device: usize,
    pub flags: u32,
    pub record: Record,
    /// The number of records, to tell them apart.
    pub generation: u64,
    /// When the record of a generation ran.
    pub time: Option<(u64, u64)>,
}

/// `CUmodule`.
pub struct Module {
    pub device: usize,
    pub program: Arc<Program>,
}

/// `CUfunction`.
pub struct KernelFunction {
    pub module: usize,
    pub entry: String,
    /// The most shared memory that launches may give.
    pub most_shared: u32,
}

/// `CUgraphExec`.
pub struct Exec {
    pub graph: Graph,
    /// The streams in which the graph's branches run, by the stream that was captured.
    pub branches: HashMap<usize, usize>,
    /// The end of the previous launch: one launch runs at a time.
    pub last: Clock,
}

impl Driver {
    pub fn new(config: Config) -> Driver {
        Driver {
            process: std::process::id(),
            random: Random::new(config.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d),
            report: Reporter::new(config.log.clone()),
            devices: (0..config.devices).map(|_| Device::default()).collect(),
            streams: Vec::new(),
            busy: BTreeSet::new(),
            events: Vec::new(),
            modules: Vec::new(),
            functions: Vec::new(),
            captures: Vec::new(),
            graphs: Vec::new(),
            execs: Vec::new(),
            memory: DriverMemory::new(&config),
            shadow: AccessHistory::default(),
            exchange: Exchange::default(),
            words: Words::default(),
            host: Clock::default(),
            host_waits: 0,
            took: 0,
            initialised: false,
            calls: HashMap::new(),
            config,
        }
    }

    /// Fails if the device is lost or has a fault.
    pub fn healthy(&self, device: usize) -> Outcome {
        let state = &self.devices[device];
        match (state.lost, state.fault) {
            (true, _) => Err(Code::DEVICE_UNAVAILABLE),
            (false, Some(code)) => Err(code),
            (false, None) => Ok(()),
        }
    }

    /// The device of a `CUdevice`.
    pub fn device(&self, ordinal: i32) -> Result<usize, Code> {
        usize::try_from(ordinal)
            .ok()
            .filter(|device| *device < self.devices.len())
            .ok_or(Code::INVALID_DEVICE)
    }

    /// The device whose primary context a handle stands for.
    pub fn primary(&self, handle: Opaque) -> Result<usize, Code> {
        let device = abi::index(HandleKind::Primary, handle).filter(|device| *device < self.devices.len());
        let device = device.ok_or(Code::INVALID_CONTEXT)?;
        match self.devices[device].retained {
            0 => Err(Code::CONTEXT_IS_DESTROYED),
            _ => Ok(device),
        }
    }

    /// A new stream, ordered after what the host has waited for.
    pub fn add_stream(&mut self, device: usize, order: StreamOrder) -> usize {
        self.streams.push(Stream {
            device,
            order,
            queue: VecDeque::new(),
            queued: 0,
            done: 0,
            ends: Vec::new(),
            clock: self.host.clone(),
            capture: None,
            alive: true,
        });
        self.streams.len() - 1
    }

    /// The legacy default stream of a device.
    pub fn legacy(&mut self, device: usize) -> usize {
        match self.devices[device].legacy {
            Some(stream) => stream,
            None => {
                let stream = self.add_stream(device, StreamOrder::Legacy);
                self.devices[device].legacy = Some(stream);
                stream
            }
        }
    }

    fn per_thread(&mut self, device: usize) -> usize {
        let thread = std::thread::current().id();
        match self.devices[device].per_thread.get(&thread) {
            Some(stream) => *stream,
            None => {
                let stream = self.add_stream(device, StreamOrder::Blocking);
                self.devices[device].per_thread.insert(thread, stream);
                stream
            }
        }
    }

    /// The stream of a handle, whose device must be in order; default streams are the current device's.
    pub fn stream(&mut self, handle: Opaque, current: Option<usize>) -> Result<usize, Code> {
        let stream = match handle as usize {
            0 | abi::STREAM_LEGACY => self.legacy(current.ok_or(Code::INVALID_CONTEXT)?),
            abi::STREAM_PER_THREAD => self.per_thread(current.ok_or(Code::INVALID_CONTEXT)?),
            _ => abi::index(HandleKind::Stream, handle)
                .filter(|stream| self.streams.get(*stream).is_some_and(|stream| stream.alive))
                .ok_or_else(|| self.stale("stream", handle))?,
        };
        self.healthy(self.streams[stream].device)?;
        Ok(stream)
    }

    /// The number of a live event.
    pub fn event(&self, handle: Opaque) -> Result<usize, Code> {
        let event = abi::index(HandleKind::Event, handle)
            .filter(|event| matches!(self.events.get(*event), Some(Some(_))));
        let event = event.ok_or_else(|| self.stale("event", handle))?;
        self.healthy(self.event_of(event).device)?;
        Ok(event)
    }

    /// A live event by its number.
    pub fn event_of(&self, event: usize) -> &Event {
        self.events[event].as_ref().expect("numbers come from `event`, which found it alive")
    }

    /// A live event by its number.
    pub fn event_mut(&mut self, event: usize) -> &mut Event {
        self.events[event].as_mut().expect("numbers come from `event`, which found it alive")
    }

    /// The number of a live module.
    pub fn module(&self, handle: Opaque) -> Result<usize, Code> {
        let module = abi::index(HandleKind::Module, handle);
        let module = module.filter(|module| matches!(self.modules.get(*module), Some(Some(_))));
        module.ok_or_else(|| self.stale("module", handle))
    }

    /// The function of a handle, with its module.
    pub fn function(&self, handle: Opaque) -> Result<(&KernelFunction, &Module), Code> {
        let function =
            abi::index(HandleKind::Function, handle).and_then(|function| self.functions.get(function));
        let function = function.ok_or_else(|| self.stale("function", handle))?;
        let module = self.modules[function.module].as_ref();
        Ok((function, module.ok_or_else(|| self.stale("function of an unloaded module", handle))?))
    }

    /// The number of a live graph.
    pub fn graph(&self, handle: Opaque) -> Result<usize, Code> {
        let graph = abi::index(HandleKind::Graph, handle);
        let graph = graph.filter(|graph| matches!(self.graphs.get(*graph), Some(Some(_))));
        graph.ok_or_else(|| self.stale("graph", handle))
    }

    /// The number of a live executable graph.
    pub fn exec(&self, handle: Opaque) -> Result<usize, Code> {
        let exec = abi::index(HandleKind::Exec, handle);
        let exec = exec.filter(|exec| matches!(self.execs.get(*exec), Some(Some(_))));
        exec.ok_or_else(|| self.stale("executable graph", handle))
    }

    /// A real driver may crash on such a handle; here it is said.
    fn stale(&self, what: &str, handle: Opaque) -> Code {
        self.report.line(&format!("{handle:?} is no {what}, or was destroyed before"));
        Code::INVALID_HANDLE
    }
}

/// Puts a value into the first free place; its number.
pub fn place<T>(table: &mut Vec<Option<T>>, value: T) -> usize {
    // Places are not reused: a stale handle must not meet a new object.
    table.push(Some(value));
    table.len() - 1
}
