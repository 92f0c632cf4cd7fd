//! Facts of an adapter, as its driver states them.

/// The sort of processor of an adapter. The order is the order of preference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum AdapterKind {
    Discrete,
    Integrated,
    Virtual,
    Unknown,
    /// A program on the processor, such as lavapipe.
    Cpu,
}

/// An adapter, described.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AdapterFacts {
    pub name: String,
    pub driver: String,
    /// `Vulkan`, `Metal` or `Dx12`.
    pub backend: String,
    pub kind: AdapterKind,
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
    pub storage_alignment: u64,
    pub uniform_alignment: u64,
    pub f64: bool,
    pub i64: bool,
    /// Invocations of a subgroup may read each other's registers.
    pub subgroups: bool,
    /// Takes SPIR-V, so that float operations stay as they are written.
    pub strict_floats: bool,
    /// The promises of its driver for floats of so many bits; kernels in SPIR-V ask for all of them.
    pub float_controls: Vec<(FloatControl, u32)>,
}

/// A promise about the floats of one width, by the name of its execution mode in SPIR-V.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FloatControl {
    /// Subnormals are kept, in operands and results.
    DenormPreserve,
    /// Signs of zero, infinities and NaN are kept, and nothing is optimised as if they did not occur.
    SignedZeroInfNanPreserve,
    /// Results are rounded to nearest even.
    RoundingModeRTE,
}
