//! Graphs: made executable, launched, updated.

use super::super::abi::{Code, HandleKind, Opaque, Outcome, handle};
use super::super::state::{Driver, Exec, StreamOrder, place};
use super::{Out, current, exports, not_simulated};
use crate::driver::work::{Clock, Graph, Node, Work};
use std::collections::HashMap;
use std::ffi::c_char;

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Debug)]
pub struct UpdateResult {
    result: u32,
    error_node: Opaque,
    error_from_node: Opaque,
}

/// `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`.
const TOPOLOGY_CHANGED: u32 = 2;

exports! {
    fn cuGraphInstantiateWithFlags(out: Out<Opaque>, graph: Opaque, flags: u64) Init, |driver, _device| {
        let graph = driver.graph(graph)?;
        match flags {
            // Freeing on launch matters to allocations, which a graph has none of; priorities do not matter.
            0 | 1 | 8 | 9 => {}
            2 | 4 | 6 => return Err(not_simulated(driver, "upload or launch from the device of a graph")),
            _ => return Err(Code::INVALID_VALUE),
        }
        instantiate(driver, out, graph)
    }

    fn cuGraphInstantiate_v2(
        out: Out<Opaque>, graph: Opaque, error_node: Out<Opaque>, log: Out<c_char>, log_bytes: usize,
    ) Init, |driver, _device| {
        let _ = (error_node, log, log_bytes);
        let graph = driver.graph(graph)?;
        instantiate(driver, out, graph)
    }

    fn cuGraphUpload(exec: Opaque, stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        driver.exec(exec)?;
        driver.submit(stream, "upload of a graph".to_owned(), Work::Nothing)
    }

    fn cuGraphLaunch(exec: Opaque, stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        let exec = driver.exec(exec)?;
        if driver.streams[stream].capture.is_some() {
            return Err(not_simulated(driver, "a graph within a graph"));
        }
        driver.launch_graph(exec, stream)
    }

    fn cuGraphExecDestroy(exec: Opaque) Init, |driver, _device| {
        let exec = driver.exec(exec)?;
        // What is queued still runs.
        driver.execs[exec] = None;
        Ok(())
    }

    fn cuGraphDestroy(graph: Opaque) Init, |driver, _device| {
        let graph = driver.graph(graph)?;
        driver.graphs[graph] = None;
        Ok(())
    }

    fn cuGraphGetNodes(graph: Opaque, nodes: Out<Opaque>, count: Out<usize>) Init, |driver, _device| {
        let graph = driver.graph(graph)?;
        let there = driver.graphs[graph].as_ref().map_or(0, |graph| graph.nodes.len());
        if nodes.asked() {
            let wanted = count.get()?;
            for at in 0..wanted {
                let node = (at < there).then(|| handle(HandleKind::Node, graph << 20 | at));
                nodes.put_at(at, node.unwrap_or(std::ptr::null_mut()))?;
            }
            return count.put(there.min(wanted));
        }
        count.put(there)
    }

    fn cuGraphExecUpdate_v2(exec: Opaque, graph: Opaque, result: Out<UpdateResult>) Init, |driver, _device| {
        let (exec, graph) = (driver.exec(exec)?, driver.graph(graph)?);
        let new = driver.graphs[graph].clone().unwrap_or_default();
        let none = std::ptr::null_mut();
        let Some(state) = &mut driver.execs[exec] else { return Err(Code::INVALID_HANDLE) };
        let Some(nodes) = updated(&state.graph, &new) else {
            result.put(UpdateResult { result: TOPOLOGY_CHANGED, error_node: none, error_from_node: none })?;
            return Err(Code::GRAPH_EXEC_UPDATE_FAILURE);
        };
        state.graph.nodes = nodes;
        result.put(UpdateResult { result: 0, error_node: none, error_from_node: none })
    }
}

fn instantiate(driver: &mut Driver, out: Out<Opaque>, graph: usize) -> Outcome {
    let graph = driver.graphs[graph].clone().unwrap_or_default();
    let mut branches = HashMap::new();
    for Node { stream, .. } in &graph.nodes {
        let device = driver.streams[*stream].device;
        branches.entry(*stream).or_insert_with(|| driver.add_stream(device, StreamOrder::Branch, 0, 0));
    }
    let exec = Exec { graph, branches, last: Clock::default() };
    out.put(handle(HandleKind::Exec, place(&mut driver.execs, exec)))
}

/// The nodes of `new` in the branches of `old`, if both have the same shape.
fn updated(old: &Graph, new: &Graph) -> Option<Vec<Node>> {
    let same = |(old, new): (&Node, &Node)| {
        let kinds = std::mem::discriminant(&old.work) == std::mem::discriminant(&new.work);
        let functions = match (&old.work, &new.work) {
            (Work::Kernel(old), Work::Kernel(new)) => old.entry == new.entry,
            _ => true,
        };
        old.after == new.after && kinds && functions
    };
    if old.nodes.len() != new.nodes.len() || !old.nodes.iter().zip(&new.nodes).all(same) {
        return None;
    }
    let keep = |(old, new): (&Node, &Node)| Node { stream: old.stream, ..new.clone() };
    Some(old.nodes.iter().zip(&new.nodes).map(keep).collect())
}
