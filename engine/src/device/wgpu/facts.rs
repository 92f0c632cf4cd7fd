//! Plain data about adapters, which no driver is needed for.

/// What sort of processor an adapter is. The order is the order of preference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AdapterKind {
    /// A graphics card.
    Discrete,
    /// Graphics in the processor's package.
    Integrated,
    /// A graphics card seen through a virtual machine.
    Virtual,
    /// The driver does not say.
    Unknown,
    /// A program on the processor, such as lavapipe.
    Cpu,
}

/// An adapter, described.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdapterFacts {
    /// The driver's name for it.
    pub name: String,
    /// Driver and version.
    pub driver: String,
    /// `Vulkan`, `Metal` or `Dx12`.
    pub backend: String,
    /// The sort of processor.
    pub kind: AdapterKind,
    /// True for a program on the processor, such as lavapipe.
    pub is_software: bool,
    /// Arrays one kernel may bind.
    pub max_params: usize,
    /// Bytes one binding may span.
    pub max_binding_bytes: u64,
    /// Bytes one buffer may have.
    pub max_buffer_bytes: u64,
    /// Workgroups per dimension of a dispatch.
    pub max_groups_per_dimension: u32,
    /// Invocations per workgroup.
    pub max_workgroup_size: u32,
    /// Alignment of storage bindings.
    pub storage_alignment: u64,
    /// Alignment of uniform bindings.
    pub uniform_alignment: u64,
    /// Has f64.
    pub f64: bool,
    /// Has i64 and u64.
    pub i64: bool,
    /// Takes SPIR-V, so that float operations stay as they are written.
    pub strict_floats: bool,
    /// What its driver promises of floats of so many bits; kernels in SPIR-V ask for all of it.
    pub float_controls: Vec<(FloatControl, u32)>,
}

/// Limits smaller than the adapter's, so that tests reach the code behind them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Shrink {
    /// Bytes one binding may span.
    pub max_binding_bytes: Option<u64>,
    /// Workgroups per dimension of a dispatch.
    pub max_groups_per_dimension: Option<u32>,
    /// Take nothing for granted about the driver's float arithmetic.
    pub cautious: bool,
    /// Keep its memory out of this process's address space.
    pub hidden: bool,
}

/// A promise about the floats of one width, by the name of its execution mode in SPIR-V.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatControl {
    /// Subnormals are kept, in operands and results.
    DenormPreserve,
    /// Signs of zero, infinities and NaN are kept, and nothing is optimised as if they did not occur.
    SignedZeroInfNanPreserve,
    /// Results are rounded to nearest even.
    RoundingModeRTE,
}
