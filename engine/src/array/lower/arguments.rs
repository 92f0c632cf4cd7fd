//! [`KernelArguments`]: where the scalar arguments of a kernel's launches come from. The tasks of a graph have
//! slots in place of plain numbers, so that they suit every evaluation of an equal graph.

use std::sync::Arc;

use partita_kernels::Scalar;

use crate::array::record::expr::Slot;

/// One scalar argument of a kernel.
#[derive(Clone, Hash)]
pub(crate) enum KernelArgument {
    /// A plain number of the recorded program.
    Number(Slot),
    /// A number of a formula of coordinates.
    PerPart(Vec<Scalar>),
}

/// The scalar arguments of a kernel, in order.
#[derive(Clone, Default, Hash)]
pub(crate) struct KernelArguments(Vec<KernelArgument>);

impl KernelArguments {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn push(&mut self, argument: KernelArgument) {
        self.0.push(argument);
    }

    /// The arguments of the launch on a part.
    pub fn on(&self, part: usize, numbers: &[Scalar]) -> Vec<Scalar> {
        let value = |argument: &KernelArgument| match argument {
            KernelArgument::Number(slot) => numbers[*slot as usize],
            KernelArgument::PerPart(values) => values[part],
        };
        self.0.iter().map(value).collect()
    }

    /// The arguments that are plain numbers, and their slots.
    pub fn slots(&self) -> Arc<[(usize, Slot)]> {
        let slot = |(at, argument): (usize, &KernelArgument)| match argument {
            KernelArgument::Number(slot) => Some((at, *slot)),
            KernelArgument::PerPart(_) => None,
        };
        self.0.iter().enumerate().filter_map(slot).collect()
    }
}
