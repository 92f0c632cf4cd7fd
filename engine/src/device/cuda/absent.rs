//! The CUDA device of a build without the feature `cuda`: a type without values, with the methods that the
//! engine calls. No device opens, so nothing of this ever runs.

use std::any::Any;

use partita_kernels::{Launch, Verified};

use crate::device::Stream;
use crate::device::cuda::error::CudaError;
use crate::device::cuda::facts::IpcHandle;
use crate::device::cuda::job::DriverJob;

/// Stands for every type of the CUDA device but the one below.
pub(crate) enum NoCuda {}

/// Stands for an event that processes share.
pub enum NoIpcEvent {}

type Outcome<T> = Result<T, CudaError>;

pub(in crate::device) fn count() -> Outcome<usize> {
    Err(CudaError::NotBuilt)
}

/// Why there is no device, in words for people.
pub fn absence() -> String {
    CudaError::NotBuilt.to_string()
}

pub(in crate::device) fn copy_between(
    _: Stream,
    from: &NoCuda,
    _: (&NoCuda, u64),
    _: &NoCuda,
    _: (&NoCuda, u64),
    _: u64,
) -> Outcome<()> {
    match *from {}
}

/// Methods of a type without values: names, arguments and results.
macro_rules! unreachable_methods {
    ($type:ty: $($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        impl $type {$(
            /// Never called: no value exists.
            pub fn $name(&self $(, _: $argument)*) -> $result {
                match *self {}
            }
        )*}
    };
}

unreachable_methods! {
    NoIpcEvent:
    export() -> Outcome<IpcHandle>;
    record() -> Outcome<()>;
    record_on(Stream) -> Outcome<()>;
    hold() -> Outcome<()>;
    hold_on(Stream) -> Outcome<()>;
}

unreachable_methods! {
    NoCuda:
    address() -> u64;
    bytes() -> u64;
    plain_address() -> Option<u64>;
    source() -> &str;
    export() -> Outcome<IpcHandle>;
    seconds_since(&NoCuda) -> Outcome<f64>;
    name() -> &str;
    is_simulated() -> bool;
    alloc(u64) -> Outcome<NoCuda>;
    compile(&Verified) -> Outcome<NoCuda>;
    launch(Stream, &NoCuda, &Launch, &[&NoCuda]) -> Outcome<()>;
    replay(Stream, &NoCuda) -> Outcome<()>;
    upload(Stream, &NoCuda, u64, &[u8]) -> Outcome<()>;
    download(Stream, &NoCuda, u64, &mut [u8]) -> Outcome<()>;
    start_download(Stream, &NoCuda, u64, usize) -> Outcome<NoCuda>;
    finish_download(NoCuda, &mut [u8]) -> Outcome<()>;
    timestamp(Stream) -> Outcome<NoCuda>;
    after(Stream, &NoCuda, Stream) -> Outcome<()>;
    wait() -> Outcome<()>;
    wait_for(Stream) -> Outcome<()>;
    wait_for_all() -> Outcome<()>;
    stream() -> u64;
    holds(u64) -> Outcome<bool>;
    import_memory(IpcHandle, u64) -> Outcome<NoCuda>;
    ipc_event() -> Outcome<NoIpcEvent>;
    import_event(IpcHandle) -> Outcome<NoIpcEvent>;
}

impl NoCuda {
    pub(in crate::device) fn open(_: usize) -> Outcome<NoCuda> {
        Err(CudaError::NotBuilt)
    }

    pub(in crate::device) fn launch_boxes(&self, _: Stream, _: &[DriverJob<NoCuda, NoCuda>]) -> Outcome<()> {
        match *self {}
    }

    pub(in crate::device) fn record(&self, _: &[Vec<DriverJob<NoCuda, NoCuda>>]) -> Outcome<NoCuda> {
        match *self {}
    }

    /// # Safety
    /// None: no value exists.
    pub(in crate::device) unsafe fn borrow(&self, _: u64, _: u64, _: Box<dyn Any + Send + Sync>) -> NoCuda {
        match *self {}
    }

    /// # Safety
    /// None: no value exists.
    pub(in crate::device) unsafe fn publish_to(&self, _: u64) -> Outcome<()> {
        match *self {}
    }

    /// # Safety
    /// None: no value exists.
    pub(in crate::device) unsafe fn await_stream(&self, _: u64) -> Outcome<()> {
        match *self {}
    }
}
