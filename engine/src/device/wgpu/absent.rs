//! The wgpu device of a build without the feature `wgpu`: a type without values, with the methods that the
//! engine calls. No adapter opens, so nothing of this ever runs.

use partita_kernels::{Launch, Verified};

use crate::device::wgpu::error::WgpuError;
use crate::device::wgpu::facts::{AdapterFacts, Shrink};

/// Stands for every type of the wgpu device.
pub enum NoWgpu {}

type Outcome<T> = Result<T, WgpuError>;

/// None.
pub fn adapters() -> Vec<AdapterFacts> {
    Vec::new()
}

/// Methods of a type without values: names, arguments and results.
macro_rules! unreachable_methods {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        impl NoWgpu {$(
            pub(in crate::device) fn $name(&self $(, _: $argument)*) -> $result {
                match *self {}
            }
        )*}
    };
}

unreachable_methods! {
    address() -> Option<usize>;
    bytes() -> u64;
    sources() -> std::iter::Empty<&str>;
    name() -> &str;
    facts() -> &AdapterFacts;
    is_visible() -> bool;
    alloc(u64) -> Outcome<NoWgpu>;
    compile(&Verified) -> Outcome<NoWgpu>;
    launch(&NoWgpu, &Launch, &[&NoWgpu]) -> Outcome<()>;
    record(&[(&NoWgpu, &Launch, &[&NoWgpu])]) -> Outcome<NoWgpu>;
    replay(&NoWgpu) -> Outcome<()>;
    upload(&NoWgpu, u64, &[u8]) -> Outcome<()>;
    download(&NoWgpu, u64, &mut [u8]) -> Outcome<()>;
    start_download(&NoWgpu, u64, usize) -> Outcome<NoWgpu>;
    finish_download(NoWgpu, &mut [u8]) -> Outcome<()>;
    show(&NoWgpu) -> Outcome<()>;
    wait() -> Outcome<()>;
}

impl NoWgpu {
    pub(in crate::device) fn open(_: usize, _: Shrink) -> Outcome<NoWgpu> {
        Err(WgpuError::NotBuilt)
    }
}
