//! From the IR to a graph of compiled loops: types become lanes, f16 and bf16 become f32 with explicit
//! rounding, bitcasts vanish, and every operation is assigned to its loop.

use crate::build::live;
use crate::cpu::loops::lanes::Lane;
use crate::cpu::loops::level::Level;
use crate::cpu::loops::map::MapFn;
use crate::cpu::loops::{functions, narrow, ops};
use crate::dtype::{DType, Scalar};
use crate::ir::{BinaryOp, Form, Kernel, Op, UnaryOp, Value};

/// An index into [`Graph::nodes`].
pub(in crate::cpu) type NodeId = usize;

/// The content of a node.
pub(in crate::cpu) enum NodeKind {
    /// A constant's lane bits.
    Constant(u64),
    /// A launch argument.
    Argument(usize),
    /// Memory, as it is.
    Load { param: usize, offsets: Vec<i32> },
    /// The coordinate of this dimension.
    Coord(usize),
    /// A compiled loop.
    Map(MapFn),
}

/// A value of the graph; operands come before their users.
pub(in crate::cpu) struct Node {
    pub kind: NodeKind,
    pub args: Vec<NodeId>,
    /// The type of its lanes in a slot.
    pub lane: Lane,
    /// Depends on constants and arguments only.
    pub uniform: bool,
}

/// The nodes of the body that the form takes.
pub(in crate::cpu) enum Roots {
    /// `(param, node)` per store; the node's lanes are the parameter's memory form.
    Stores(Vec<(usize, NodeId)>),
    /// The index.
    Gather(NodeId),
    /// The index, and the value (memory form, or lanes if it is added).
    Scatter(NodeId, NodeId),
}

impl Roots {
    /// Every node the form uses.
    pub(in crate::cpu) fn nodes(&self) -> Vec<NodeId> {
        match self {
            Roots::Stores(stores) => stores.iter().map(|s| s.1).collect(),
            Roots::Gather(index) => vec![*index],
            Roots::Scatter(index, value) => vec![*index, *value],
        }
    }
}

/// A kernel's body and roots.
pub(in crate::cpu) struct Graph {
    pub nodes: Vec<Node>,
    pub roots: Roots,
}

/// The graph of a verified kernel.
pub(in crate::cpu) fn lower(kernel: &Kernel, level: Level) -> Graph {
    let count = kernel.body.len();
    let mut lowering = Lowering {
        kernel,
        level,
        nodes: Vec::new(),
        loads: vec![None; count],
        lanes: vec![None; count],
        narrow: vec![None; count],
    };
    for (at, _) in live(kernel).into_iter().enumerate().filter(|&(_, live)| live) {
        lowering.instruction(Value(at as u32));
    }
    let roots = lowering.roots();
    Graph { nodes: lowering.nodes, roots }
}

struct Lowering<'k> {
    kernel: &'k Kernel,
    level: Level,
    nodes: Vec<Node>,
    /// Per instruction, the node that reads memory.
    loads: Vec<Option<NodeId>>,
    /// Per instruction, the node of its computed value.
    lanes: Vec<Option<NodeId>>,
    /// Per instruction, the f16 or bf16 bits of its value.
    narrow: Vec<Option<NodeId>>,
}

impl Lowering<'_> {
    fn node(&mut self, kind: NodeKind, args: Vec<NodeId>, lane: Lane) -> NodeId {
        let source = matches!(kind, NodeKind::Load { .. } | NodeKind::Coord(_));
        let uniform = !source && args.iter().all(|&a| self.nodes[a].uniform);
        self.nodes.push(Node { kind, args, lane, uniform });
        self.nodes.len() - 1
    }

    fn map(&mut self, f: MapFn, args: &[NodeId], lane: Lane) -> NodeId {
        self.node(NodeKind::Map(f), args.to_vec(), lane)
    }

    fn dtype(&self, value: Value) -> DType {
        self.kernel.body[value.index()].dtype
    }

    /// The node of a value, as lanes to compute with.
    fn lanes(&mut self, value: Value) -> NodeId {
        if let Some(node) = self.lanes[value.index()] {
            return node;
        }
        // Only a load's widening is made on demand, so that plain copies move bits.
        let load = self.loads[value.index()].expect("instructions are lowered in order");
        let dtype = self.dtype(value);
        let node = match dtype {
            DType::F16 | DType::BF16 => self.map(ops::widen(self.level, dtype), &[load], Lane::F32),
            _ => load,
        };
        self.lanes[value.index()] = Some(node);
        node
    }

    /// The node of a value, in its memory form.
    fn memory(&mut self, value: Value) -> NodeId {
        if let Some(load) = self.loads[value.index()].or(self.narrow[value.index()]) {
            return load;
        }
        let lanes = self.lanes(value);
        let dtype = self.dtype(value);
        match dtype {
            DType::F16 | DType::BF16 => {
                let node = self.map(ops::narrow(self.level, dtype), &[lanes], Lane::U16);
                self.narrow[value.index()] = Some(node);
                node
            }
            _ => lanes,
        }
    }

    /// Rounds f32 lanes to a narrower type.
    fn round(&mut self, node: NodeId, dtype: DType) -> NodeId {
        match dtype {
            DType::F16 | DType::BF16 => self.map(ops::round(self.level, dtype), &[node], Lane::F32),
            _ => node,
        }
    }

    fn instruction(&mut self, value: Value) {
        let inst = &self.kernel.body[value.index()];
        let dtype = inst.dtype;
        let lane = Lane::of(dtype);
        let node = match &inst.op {
            Op::Load { param, offsets } => {
                let memory = if lane.size() == dtype.size_bytes() { lane } else { Lane::U16 };
                let kind = NodeKind::Load { param: *param as usize, offsets: offsets.clone() };
                self.loads[value.index()] = Some(self.node(kind, vec![], memory));
                return;
            }
            Op::Const(scalar) => self.node(NodeKind::Constant(lane_bits(*scalar)), vec![], lane),
            Op::Argument(n) => self.node(NodeKind::Argument(*n as usize), vec![], lane),
            Op::Coord(dim) => self.node(NodeKind::Coord(*dim as usize), vec![], lane),
            Op::Unary(op, a) => self.unary(*op, *a),
            Op::Binary(op, a, b) => self.binary(*op, *a, *b, dtype),
            Op::Compare(op, a, b) => {
                let (from, args) = (self.dtype(*a), [self.lanes(*a), self.lanes(*b)]);
                self.map(ops::compare(self.level, *op, Lane::of(from)), &args, Lane::U8)
            }
            Op::Select(c, a, b) => {
                let args = [self.lanes(*c), self.lanes(*a), self.lanes(*b)];
                self.map(ops::select(self.level, lane.size()), &args, lane)
            }
            Op::Fma(a, b, c) => {
                let args = [self.lanes(*a), self.lanes(*b), self.lanes(*c)];
                self.map(ops::fma(self.level, lane), &args, lane)
            }
            Op::Cast(a) => self.cast(*a, dtype),
            Op::Bitcast(a) => self.bitcast(*a, dtype),
            Op::Math1(function, a) => {
                let a = self.lanes(*a);
                let result = self.map(functions::math1(self.level, *function, lane == Lane::F64), &[a], lane);
                self.round(result, dtype)
            }
            Op::Math2(function, a, b) => {
                let args = [self.lanes(*a), self.lanes(*b)];
                let result =
                    self.map(functions::math2(self.level, *function, lane == Lane::F64), &args, lane);
                self.round(result, dtype)
            }
        };
        self.lanes[value.index()] = Some(node);
    }

    fn unary(&mut self, op: UnaryOp, a: Value) -> NodeId {
        let dtype = self.dtype(a);
        let a = self.lanes(a);
        let lane = if op == UnaryOp::IsNan { Lane::U8 } else { Lane::of(dtype) };
        let result = self.map(ops::unary(self.level, op, dtype), &[a], lane);
        // The other operations of floats are exact.
        if op == UnaryOp::Sqrt { self.round(result, dtype) } else { result }
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value, dtype: DType) -> NodeId {
        let args = [self.lanes(a), self.lanes(b)];
        let lane = Lane::of(dtype);
        let result = self.map(ops::binary(self.level, op, lane), &args, lane);
        match op {
            BinaryOp::Min | BinaryOp::Max | BinaryOp::Rem => result,
            _ => self.round(result, dtype),
        }
    }

    fn cast(&mut self, a: Value, to: DType) -> NodeId {
        let from = self.dtype(a);
        let a = self.lanes(a);
        let (source, lane) = (Lane::of(from), Lane::of(to));
        match (from, to) {
            _ if from == to => a,
            (_, DType::Bool) => self.map(ops::non_zero(self.level, source), &[a], Lane::U8),
            (DType::F64, DType::F16 | DType::BF16) => {
                let odd = self.map(ops::odd_f32(self.level), &[a], Lane::F32);
                self.round(odd, to)
            }
            _ => {
                let same = source == lane;
                let cast = if same { a } else { self.map(ops::cast(self.level, source, lane), &[a], lane) };
                self.round(cast, to)
            }
        }
    }

    fn bitcast(&mut self, a: Value, to: DType) -> NodeId {
        let bits = self.memory(a);
        match to {
            DType::F16 | DType::BF16 => self.map(ops::widen(self.level, to), &[bits], Lane::F32),
            _ => bits,
        }
    }

    fn roots(&mut self) -> Roots {
        let kernel = self.kernel;
        match &kernel.form {
            Form::Elementwise { stores } => {
                Roots::Stores(stores.iter().map(|s| (s.param as usize, self.memory(s.value))).collect())
            }
            Form::Reduce { .. } | Form::Scan(_) => unreachable!("the values of folds and scans are stored"),
            Form::Gather { index, .. } => Roots::Gather(self.lanes(*index)),
            Form::Scatter { index, value, add, .. } => {
                let value = if *add { self.lanes(*value) } else { self.memory(*value) };
                Roots::Scatter(self.lanes(*index), value)
            }
        }
    }
}

/// The bits of a constant as a lane.
pub(in crate::cpu) fn lane_bits(scalar: Scalar) -> u64 {
    match scalar.dtype {
        DType::F16 => u64::from(narrow::f16_to_f32(scalar.bits as u16).to_bits()),
        DType::BF16 => u64::from(narrow::bf16_to_f32(scalar.bits as u16).to_bits()),
        _ => scalar.bits,
    }
}
