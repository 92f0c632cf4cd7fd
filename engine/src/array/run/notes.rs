//! Notes of a `Loop`'s step under analysis: its tasks, bound to the values that they read and compute.

use std::sync::Arc;

use crate::array::bind::schedule::Values;
use crate::array::lower::body::Source;
use crate::array::lower::steps::fused::ResultStorage;
use crate::array::lower::steps::list::{CopiedCells, FusedKernel, KernelLaunch, Step};
use crate::array::recorder::recording::{BoundKernel, BoundTask, OperandRead, Recorder};
use crate::error::Result;

/// Notes what a step does, if several steps with one exchange have to know it.
pub(crate) fn note(recorder: &Recorder, step: &Step, values: &Values) -> Result<()> {
    let launches = match step {
        Step::Launch(launch) => std::slice::from_ref(launch),
        Step::Exchange(exchange) => &exchange.launches,
        Step::Copy { from, to, cells, .. } => {
            let (from, to) = (values.storage(*from)?.number, values.storage(*to)?.number);
            match cells {
                CopiedCells::Owned | CopiedCells::Current => {
                    recorder.note_task(|| BoundTask::Copy { from, to });
                }
                CopiedCells::Window(_) => {
                    recorder.note_task(|| BoundTask::Overwrite { value: from, whole: to });
                }
                CopiedCells::Outside(_) => {}
            }
            return Ok(());
        }
        Step::Allocate(_) | Step::Sort(_) | Step::Move { .. } | Step::Alias { .. } | Step::Donate { .. } => {
            return Ok(());
        }
    };
    for KernelLaunch { fused, .. } in launches {
        if let Some(fused) = fused.as_ref().filter(|fused| !fused.results.is_empty()) {
            let kernel = Box::new(bound(fused, values)?);
            recorder.note_task(|| BoundTask::Compute(kernel));
        }
    }
    Ok(())
}

fn bound(fused: &FusedKernel, values: &Values) -> Result<BoundKernel> {
    let FusedKernel { leaves, placed, dist, results, .. } = fused;
    let mut reads = Vec::new();
    for leaf in leaves {
        let Source::Memory(node) = leaf.source else { continue };
        let storage = values.storage(node)?;
        let (number, dist) = (storage.number, Arc::clone(&storage.dist));
        reads.push(OperandRead { number, dist, node: values.recorded(node), maps: leaf.maps.clone() });
    }
    let numbered = |node| {
        let storage = values.storage(node)?;
        Ok((storage.number, Arc::clone(&storage.dist)))
    };
    let kept = results.iter().filter_map(|result| result.rest_of).map(numbered);
    Ok(BoundKernel {
        frame: results[0].window.clone(),
        dist: Arc::clone(dist),
        placed: placed.clone(),
        reads,
        results: results.iter().map(|result| numbered(result.node)).collect::<Result<_>>()?,
        is_temporary: results.iter().any(|result| matches!(result.storage, ResultStorage::Temporary(_))),
        is_uniform: results.iter().all(|result| result.window.is_like(&results[0].window)),
        kept: kept.collect::<Result<_>>()?,
    })
}
