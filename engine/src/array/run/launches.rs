//! Kernels over distributions, and their launches: queued so that what needs nothing of what travels is
//! computed meanwhile. Knows no expressions; what a kernel computes, and where its results go, is its maker's
//! business.

use std::sync::Arc;

use partita_kernels::{DType, Scalar, Value, Verified, View, simplify};

use crate::array::bind::schedule::{BoundOperand, ScheduleBuilder, bind};
use crate::array::lower::body::{Leaf, Lowering};
use crate::array::lower::compute_region::ComputeRegion;
use crate::device::DeviceKind;
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::program::Place;
use crate::team::Team;
use crate::transport::Leisure;

/// A kernel over the packed coordinates of a distribution, and what it reads.
pub(crate) struct Fused {
    pub kernel: Verified,
    pub leaves: Vec<Leaf>,
    /// The dimensions along which it asks for coordinates.
    pub placed: Vec<bool>,
    /// Per part.
    arguments: Vec<Vec<Scalar>>,
    dist: Arc<Distribution>,
}

impl Fused {
    /// The kernel that stores these values, of these types, of a body over `dist`.
    pub fn new(
        mut lowering: Lowering,
        values: Vec<Value>,
        dtypes: &[DType],
        dist: &Arc<Distribution>,
    ) -> Result<Fused> {
        let placed = lowering.placed();
        let stores: Vec<(u32, Value)> = dtypes
            .iter()
            .zip(values)
            .map(|(&dtype, value)| (lowering.builder.output(dtype), value))
            .collect();
        let arguments = (0..dist.parts()).map(|part| lowering.arguments(part)).collect();
        let kernel = simplify(&lowering.builder.elementwise(&stores)?);
        Ok(Fused { kernel, leaves: lowering.leaves, placed, arguments, dist: Arc::clone(dist) })
    }

    /// Its launches over the regions of the parts that are here, `outputs` being the memory of a part's
    /// results. Takes note in `work` of what they compute.
    pub fn launches(
        &self,
        (team, work): (&Team, &mut ScheduleBuilder),
        (regions, inputs): (Vec<ComputeRegion>, Vec<BoundOperand>),
        outputs: impl Fn(usize, &ComputeRegion) -> Result<Vec<(View, Place)>>,
    ) -> Result<Launches> {
        work.note(&self.kernel, &self.arguments);
        let mut bound = Vec::new();
        for (part, zone) in regions.iter().enumerate() {
            if zone.bounds.is_empty() || !team.is_here(part) {
                continue;
            }
            let mut memory = bind(&self.leaves, &inputs, part, self.dist.rank())?;
            memory.extend(outputs(part, zone)?);
            bound.push(Bound { part, memory, arguments: self.arguments[part].clone() });
        }
        Ok(Launches { kernel: self.kernel.clone(), regions, inputs, bound })
    }
}

/// The launches of one kernel.
pub(crate) struct Launches {
    kernel: Verified,
    regions: Vec<ComputeRegion>,
    inputs: Vec<BoundOperand>,
    /// The parts that compute something here.
    bound: Vec<Bound>,
}

/// A part, and what its launch is given.
struct Bound {
    part: usize,
    memory: Vec<(View, Place)>,
    arguments: Vec<Scalar>,
}

/// Queues everything. While operands travel, what needs nothing of them is computed; afterwards the rims
/// around it. No launch reads what another one writes.
pub(crate) fn queue(work: &mut ScheduleBuilder, kernels: &[Launches]) -> Result<()> {
    let leisure = work.begin_exchange()?;
    if leisure == Leisure::Nobody {
        work.join_exchange()?;
    }
    let mut launches: Vec<_> =
        kernels.iter().flat_map(|kernel| kernel.bound.iter().map(move |launch| (kernel, launch))).collect();
    // The host's own come last: all other devices work while the host waits for what leaves them.
    let is_host = |part: usize, work: &ScheduleBuilder| work.device(part).kind() == DeviceKind::Host;
    launches.sort_by_key(|(_, launch)| is_host(launch.part, work));
    let mut rims = Vec::new();
    for (kernel, launch) in launches {
        let Bound { part, memory, arguments } = launch;
        let (zone, device) = (&kernel.regions[*part], work.device(*part));
        let core = match leisure {
            Leisure::Nobody => zone.bounds,
            _ if leisure.is_of(&device) => core(&kernel.inputs, *part, &zone.bounds),
            _ => Region::from_fn(zone.bounds.rank(), |_| (0, 0)),
        };
        if device.kind() == DeviceKind::Host {
            work.send_staged();
        }
        for piece in &zone.pieces {
            let inside = piece.cells.intersect(&core);
            if !inside.is_empty() {
                let at = (&inside, &piece.origin_of(&inside));
                work.launch_box(&kernel.kernel, *part, &zone.bounds, at, memory, arguments.clone())?;
            }
            let outside = piece.cells.subtract(&inside).into_iter();
            rims.extend(outside.map(|rim| (kernel, launch, zone, piece, rim)));
        }
    }
    work.receive()?;
    for (kernel, Bound { part, memory, arguments }, zone, piece, rim) in rims {
        let at = (&rim, &piece.origin_of(&rim));
        work.launch_rim(&kernel.kernel, *part, &zone.bounds, at, memory, arguments.clone())?;
    }
    work.join_exchange()
}

/// The cells of a part that need nothing that is on its way.
fn core(inputs: &[BoundOperand], part: usize, region: &Region) -> Region {
    inputs.iter().fold(*region, |core, input| core.intersect(&input.core(part, region)))
}
