//! The launches of kernels, queued so that what needs no remote operand is computed while operands travel.

use partita_kernels::{Scalar, Verified, View};

use crate::array::bind::bound_operand::{BoundOperand, bind};
use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::lower::footprint::ComputeRegion;
use crate::array::lower::tasks::KernelTask;
use crate::device::DeviceKind;
use crate::error::Result;
use crate::index::Region;
use crate::program::Place;
use crate::transport::OverlapCapability;

/// The launches of a kernel over the regions of the parts that are here, `outputs` being the memory of a
/// part's results. Takes note in `work` of what they compute.
pub(crate) fn launches(
    task: &KernelTask,
    work: &mut ScheduleBuilder,
    (regions, inputs): (Vec<ComputeRegion>, Vec<BoundOperand>),
    outputs: impl Fn(usize, &ComputeRegion) -> Result<Vec<(View, Place)>>,
) -> Result<Launches> {
    work.note(&task.kernel, &task.arguments);
    let mut bound = Vec::new();
    for (part, region) in regions.iter().enumerate() {
        if region.bounds.is_empty() || !work.is_here(part) {
            continue;
        }
        let mut memory = bind(&task.leaves, &inputs, part, task.dist.rank())?;
        memory.extend(outputs(part, region)?);
        bound.push(BoundLaunch { part, memory, arguments: task.arguments[part].clone() });
    }
    Ok(Launches { kernel: task.kernel.clone(), regions, inputs, bound })
}

/// The launches of one kernel.
pub(crate) struct Launches {
    kernel: Verified,
    regions: Vec<ComputeRegion>,
    inputs: Vec<BoundOperand>,
    /// The parts that compute something here.
    bound: Vec<BoundLaunch>,
}

/// A part, and what its launch is given.
struct BoundLaunch {
    part: usize,
    memory: Vec<(View, Place)>,
    arguments: Vec<Scalar>,
}

/// Queues everything. While operands travel, what needs nothing of them is computed; afterwards the rims
/// around it. No launch reads what another one writes.
pub(crate) fn queue(work: &mut ScheduleBuilder, kernels: &[Launches]) -> Result<()> {
    let overlap = work.begin_exchange()?;
    if overlap == OverlapCapability::None {
        work.join_exchange()?;
    }
    let mut launches: Vec<_> =
        kernels.iter().flat_map(|kernel| kernel.bound.iter().map(move |launch| (kernel, launch))).collect();
    // The host's own come last: all other devices work while the host waits for what leaves them.
    let is_host = |part: usize, work: &ScheduleBuilder| work.device(part).kind() == DeviceKind::Host;
    launches.sort_by_key(|(_, launch)| is_host(launch.part, work));
    let mut rims = Vec::new();
    for (kernel, launch) in launches {
        let BoundLaunch { part, memory, arguments } = launch;
        let (zone, device) = (&kernel.regions[*part], work.device(*part));
        let core = match overlap {
            OverlapCapability::None => zone.bounds,
            _ if overlap.covers(&device) => core(&kernel.inputs, *part, &zone.bounds),
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
    for (kernel, BoundLaunch { part, memory, arguments }, zone, piece, rim) in rims {
        let at = (&rim, &piece.origin_of(&rim));
        work.launch_rim(&kernel.kernel, *part, &zone.bounds, at, memory, arguments.clone())?;
    }
    work.join_exchange()
}

/// The cells of a part that need nothing that is on its way.
fn core(inputs: &[BoundOperand], part: usize, region: &Region) -> Region {
    inputs.iter().fold(*region, |core, input| core.intersect(&input.core(part, region)))
}
