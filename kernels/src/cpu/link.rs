//! Writes the code of a chain: which operand of each operation is already in the accumulator, and
//! which values must also be in memory. It does not know where memory is.

use std::collections::HashMap;

use super::chain::{Do, Micro};
use super::lower::{ChainOp, Graph, NodeId, What};
use crate::ir::CompareOp;

/// What a chain needs of one of its values.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Need {
    /// A later operation of the chain reads it from memory, the last of them at this position.
    pub in_memory_until: Option<usize>,
    /// It is a bool, which is never in the accumulator.
    pub is_mask: bool,
}

/// Where a value of a chain is written, if anywhere, and the stores of it.
pub(super) struct Link {
    pub place: Option<u32>,
    pub outs: Vec<u32>,
}

/// One operation of a chain. Products that are only added or subtracted have become part of that.
pub(super) struct Operation {
    pub id: NodeId,
    op: ChainOp,
    args: Vec<NodeId>,
}

/// The operations of a chain's nodes; `uses` counts the users of each node of the graph.
pub(super) fn operations(graph: &Graph, nodes: &[NodeId], uses: &[usize]) -> Vec<Operation> {
    let inside = |id: &NodeId| nodes.binary_search(id).is_ok();
    let op = |id: NodeId| match graph.nodes[id].what {
        What::Chain(op, _) => op,
        _ => unreachable!("a chain holds chain operations only"),
    };
    // A product of operands from outside, used once.
    let product = |id: NodeId| {
        let mine = inside(&id) && op(id) == ChainOp::Mul && uses[id] == 1;
        mine && !graph.nodes[id].args.iter().any(inside)
    };
    let mut operations: Vec<Operation> = Vec::with_capacity(nodes.len());
    let mut absorbed = Vec::new();
    for &id in nodes {
        let args = &graph.nodes[id].args;
        let fused = match (op(id), args.as_slice()) {
            (ChainOp::Add, &[a, b]) if inside(&a) && product(b) => Some((ChainOp::AddProduct, a, b)),
            (ChainOp::Add, &[a, b]) if inside(&b) && product(a) => Some((ChainOp::AddProduct, b, a)),
            (ChainOp::Sub, &[a, b]) if inside(&a) && product(b) => Some((ChainOp::SubProduct, a, b)),
            (ChainOp::Sub, &[a, b]) if inside(&b) && product(a) => Some((ChainOp::ProductSub, b, a)),
            _ => None,
        };
        let operation = match fused {
            Some((op, other, product)) => {
                absorbed.push(product);
                Operation { id, op, args: [&[other], graph.nodes[product].args.as_slice()].concat() }
            }
            None => Operation { id, op: op(id), args: args.clone() },
        };
        operations.push(operation);
    }
    operations.retain(|operation| !absorbed.contains(&operation.id));
    operations
}

/// What every value of a chain needs, in order.
pub(super) fn plan(operations: &[Operation]) -> Vec<Need> {
    let mut needs = vec![Need::default(); operations.len()];
    let mut accumulator = None;
    let position: HashMap<NodeId, usize> = operations.iter().enumerate().map(|(at, o)| (o.id, at)).collect();
    for (at, operation) in operations.iter().enumerate() {
        let taken = taken(operation, accumulator);
        for (k, arg) in operation.args.iter().enumerate() {
            if taken != Some(k)
                && let Some(&made) = position.get(arg)
            {
                needs[made].in_memory_until = Some(at);
            }
        }
        needs[at].is_mask = makes_mask(operation.op);
        accumulator = after(operation, taken);
    }
    needs
}

/// The code of a chain: each operation with where its value is written.
pub(super) fn link(operations: &[Operation], links: &[Link], places: &[u32]) -> Vec<Micro> {
    let mut code = Vec::new();
    let mut accumulator = None;
    for (operation, link) in operations.iter().zip(links) {
        let taken = taken(operation, accumulator);
        let at = |k: usize| places[operation.args[k]];
        let first = first(operation.op);
        if taken.is_none() {
            code.push(Micro { what: Do::Set, x: at(first), y: Micro::NO_PLACE });
        }
        code.push(micro(operation.op, taken.unwrap_or(first), at, link.place.unwrap_or(Micro::NO_PLACE)));
        if !makes_mask(operation.op) {
            code.extend(link.place.map(|x| Micro { what: Do::Put, x, y: Micro::NO_PLACE }));
            code.extend(link.outs.iter().map(|&x| Micro { what: Do::Out, x, y: Micro::NO_PLACE }));
        }
        accumulator = after(operation, taken);
    }
    fuse(&code)
}

/// Joins pairs of operations that the machine has as one.
fn fuse(code: &[Micro]) -> Vec<Micro> {
    let mut fused: Vec<Micro> = Vec::with_capacity(code.len());
    for &micro in code {
        let both = fused.last().and_then(|previous| {
            let what = match (previous.what, micro.what) {
                (Do::Set, Do::Add) => Do::SetAdd,
                (Do::Set, Do::Sub) => Do::SetSub,
                (Do::Set, Do::Mul) => Do::SetMul,
                (Do::Add, Do::Add) => Do::AddAdd,
                (Do::Add, Do::Mul) => Do::AddMul,
                (Do::Sub, Do::Mul) => Do::SubMul,
                (Do::Mul, Do::Mul) => Do::MulMul,
                (Do::Mul, Do::Add) => Do::MulAdd,
                (Do::Mul, Do::Sub) => Do::MulSub,
                _ => return None,
            };
            Some(Micro { what, x: previous.x, y: micro.x })
        });
        match (both, fused.last_mut()) {
            (Some(both), Some(last)) => *last = both,
            _ => fused.push(micro),
        }
    }
    fused
}

fn makes_mask(op: ChainOp) -> bool {
    matches!(op, ChainOp::Compare(_) | ChainOp::IsNan)
}

/// The first operand that can be in the accumulator.
fn first(op: ChainOp) -> usize {
    usize::from(op == ChainOp::Select)
}

/// Which operand the accumulator holds already.
fn taken(operation: &Operation, accumulator: Option<NodeId>) -> Option<usize> {
    let (held, first) = (accumulator?, first(operation.op));
    let last = if is_product(operation.op) { first + 1 } else { operation.args.len() };
    (first..last).find(|&k| operation.args[k] == held)
}

/// Only the first operand of these can be in the accumulator.
fn is_product(op: ChainOp) -> bool {
    matches!(op, ChainOp::AddProduct | ChainOp::SubProduct | ChainOp::ProductSub)
}

/// What the accumulator holds after an operation.
fn after(operation: &Operation, taken: Option<usize>) -> Option<NodeId> {
    let kept = operation.args[taken.unwrap_or(first(operation.op))];
    Some(if makes_mask(operation.op) { kept } else { operation.id })
}

/// The operation with operand `taken` in the accumulator; a comparison writes to `mask`.
fn micro(op: ChainOp, taken: usize, at: impl Fn(usize) -> u32, mask: u32) -> Micro {
    let one = |what| Micro { what, x: Micro::NO_PLACE, y: Micro::NO_PLACE };
    let two = |left, right| match taken {
        0 => Micro { what: left, x: at(1), y: Micro::NO_PLACE },
        _ => Micro { what: right, x: at(0), y: Micro::NO_PLACE },
    };
    match op {
        ChainOp::Add => two(Do::Add, Do::Add),
        ChainOp::Sub => two(Do::Sub, Do::SubFrom),
        ChainOp::Mul => two(Do::Mul, Do::Mul),
        ChainOp::Div => two(Do::Div, Do::DivInto),
        ChainOp::Min => two(Do::Min, Do::MinOf),
        ChainOp::Max => two(Do::Max, Do::MaxOf),
        ChainOp::Fma => match taken {
            0 => Micro { what: Do::FmaProduct, x: at(1), y: at(2) },
            1 => Micro { what: Do::FmaProduct, x: at(0), y: at(2) },
            _ => Micro { what: Do::FmaTerm, x: at(0), y: at(1) },
        },
        ChainOp::AddProduct => Micro { what: Do::AddProduct, x: at(1), y: at(2) },
        ChainOp::SubProduct => Micro { what: Do::SubProduct, x: at(1), y: at(2) },
        ChainOp::ProductSub => Micro { what: Do::ProductSub, x: at(1), y: at(2) },
        ChainOp::Neg => one(Do::Neg),
        ChainOp::Abs => one(Do::Abs),
        ChainOp::Sqrt => one(Do::Sqrt),
        ChainOp::Floor => one(Do::Floor),
        ChainOp::Ceil => one(Do::Ceil),
        ChainOp::Trunc => one(Do::Trunc),
        ChainOp::Nearest => one(Do::Nearest),
        ChainOp::RoundF16 => one(Do::RoundF16),
        ChainOp::RoundBf16 => one(Do::RoundBf16),
        ChainOp::IsNan => Micro { what: Do::IsNan, x: Micro::NO_PLACE, y: mask },
        ChainOp::Compare(op) => {
            let swapped = if taken == 0 { op } else { swap(op) };
            Micro { what: comparison(swapped), x: at(1 - taken), y: mask }
        }
        ChainOp::Select => match taken {
            1 => Micro { what: Do::SelectElse, x: at(2), y: at(0) },
            _ => Micro { what: Do::SelectThen, x: at(1), y: at(0) },
        },
    }
}

fn comparison(op: CompareOp) -> Do {
    match op {
        CompareOp::Eq => Do::Eq,
        CompareOp::Ne => Do::Ne,
        CompareOp::Lt => Do::Lt,
        CompareOp::Le => Do::Le,
        CompareOp::Gt => Do::Gt,
        CompareOp::Ge => Do::Ge,
    }
}

/// `b <swap(op)> a` is `a <op> b`.
fn swap(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Eq,
        CompareOp::Ne => CompareOp::Ne,
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
    }
}
