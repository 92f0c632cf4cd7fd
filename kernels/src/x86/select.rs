//! From the IR to instructions. The rules of the IR that one instruction does not have (NaN in `min`, casts
//! that saturate, counts modulo the width) are a few instructions here. It does not know registers.

use iced_x86::Code;

use super::Shape;
use super::steps::{Class, Home, Id, Last, Pointer, Step, Steps, Stored, Valued};
use super::table::{self as t, Row, Width, at};
use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{BinaryOp, CompareOp, Form, Inst, Kernel, Op, Store, UnaryOp, Value};

/// Words of the pool: sixteen bytes of 1; 0, 1, .. as 4-byte and as 8-byte lanes; the launch's arguments.
const ONES: usize = 0;
const COUNTED: usize = 2;
const COUNTED_LONG: usize = 10;
/// The first argument; constants follow the last.
pub(super) const ARGUMENTS: usize = 18;

/// Words of the row's table before the pointers: see [`super::Written`].
pub(super) const POINTERS: usize = 3;

/// Immediates of the comparison of floats: with NaN only `ne` is true.
const UNORDERED: u8 = 3;
const ORDERED: u8 = 7;
/// Immediates of rounding, without exceptions.
const NEAREST: u8 = 8;
const DOWN: u8 = 9;
const UP: u8 = 10;
const TO_ZERO: u8 = 11;

/// The steps of an elementwise kernel without mathematical functions, or `None` if something in it has no
/// instructions here.
///
/// The outputs from parameter `guards` on are not stored: where one of them is false, the code returns.
pub(super) fn select(kernel: &Kernel, shape: &Shape, guards: usize) -> Option<Steps> {
    let Form::Elementwise { stores } = &kernel.form else { return None };
    let is_guard = |store: &&Store| store.param as usize >= guards;
    let live = live(kernel);
    let used = || kernel.body.iter().zip(&live).filter(|(_, live)| **live).map(|(inst, _)| inst);
    let long = used().any(|inst| inst.dtype.size_bytes() == 8);
    let mut selection = Selection {
        kernel,
        shape,
        long,
        ids: vec![None; kernel.body.len()],
        steps: Steps {
            lanes: if long { 8 } else { 16 },
            values: Vec::new(),
            prologue: Vec::new(),
            body: Vec::new(),
            stores: Vec::new(),
            pointers: Vec::new(),
            coordinates: Vec::new(),
            pool: pool(kernel.arguments.len()),
        },
    };
    for (n, inst) in kernel.body.iter().enumerate().filter(|&(n, _)| live[n]) {
        let id = selection.instruction(inst)?;
        selection.ids[n] = Some(id);
        if stores.iter().filter(is_guard).any(|guard| guard.value.index() == n) {
            selection.guard(id);
        }
    }
    // What is stored as it was loaded is read before anything is written.
    let stores: Vec<&Store> = stores.iter().filter(|store| !is_guard(store)).collect();
    let values: Vec<Id> = stores.iter().map(|store| selection.stored(store.value)).collect::<Option<_>>()?;
    for (store, value) in stores.into_iter().zip(values) {
        let pointer = selection.pointer(store.param as usize, vec![0; kernel.rank]);
        selection.steps.stores.push(Stored { value, pointer });
    }
    Some(selection.steps)
}

fn pool(arguments: usize) -> Vec<u64> {
    let ones = [0x0101_0101_0101_0101; 2];
    let pairs = (0..8).map(|n| (2 * n) | ((2 * n + 1) << 32));
    let mut pool: Vec<u64> = ones.into_iter().chain(pairs).chain(0..8).collect();
    pool.resize(ARGUMENTS + arguments, 0);
    pool
}

fn live(kernel: &Kernel) -> Vec<bool> {
    let mut live = vec![false; kernel.body.len()];
    kernel.roots().into_iter().for_each(|root| live[root.index()] = true);
    for n in (0..kernel.body.len()).rev() {
        if live[n] {
            kernel.body[n].op.operands().for_each(|value| live[value.index()] = true);
        }
    }
    live
}

struct Selection<'k> {
    kernel: &'k Kernel,
    shape: &'k Shape,
    /// Some values have 8 bytes.
    long: bool,
    ids: Vec<Option<Id>>,
    steps: Steps,
}

impl Selection<'_> {
    fn class(&self, dtype: DType) -> Option<Class> {
        match dtype {
            DType::Bool => Some(Class::Mask),
            DType::F32 | DType::I32 | DType::U32 if self.long => Some(Class::Vector(Width::HalfWords)),
            DType::F32 | DType::I32 | DType::U32 => Some(Class::Vector(Width::Words)),
            DType::F64 | DType::I64 | DType::U64 => Some(Class::Vector(Width::Longs)),
            DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::F16 | DType::BF16 => None,
        }
    }

    fn width(&self, dtype: DType) -> Option<Width> {
        match self.class(dtype)? {
            Class::Vector(width) => Some(width),
            Class::Bytes | Class::Mask => None,
        }
    }

    fn dtype(&self, value: Value) -> DType {
        self.kernel.body[value.index()].dtype
    }

    fn id(&self, value: Value) -> Id {
        self.ids[value.index()].expect("operands come before their users")
    }

    fn value(&mut self, class: Class, home: Home) -> Id {
        self.steps.values.push(Valued { class, home, uniform: home.is_uniform() });
        self.steps.values.len() - 1
    }

    /// Adds an instruction, to the prologue if all it reads is the same in every block.
    fn push(&mut self, step: Step) -> Id {
        let uniform = !step.index && !step.guard && step.reads().all(|id| self.steps.values[id].uniform);
        let dst = step.dst;
        self.steps.values[dst].uniform = uniform;
        if uniform {
            self.steps.prologue.push(step)
        } else {
            self.steps.body.push(step)
        }
        dst
    }

    fn step(&mut self, row: &Row, width: Width, args: &[Id]) -> Step {
        let dst = self.value(Class::Vector(width), Home::Nowhere);
        Step::new(at(row, width), dst, args)
    }

    fn op(&mut self, row: &Row, width: Width, args: &[Id]) -> Id {
        let step = self.step(row, width, args);
        self.push(step)
    }

    /// An operation whose operands may change places.
    fn either(&mut self, row: &Row, width: Width, args: &[Id]) -> Id {
        let step = Step { swaps: true, ..self.step(row, width, args) };
        self.push(step)
    }

    fn with(&mut self, row: &Row, width: Width, args: &[Id], immediate: u8) -> Id {
        let step = Step { immediate: Some(immediate), ..self.step(row, width, args) };
        self.push(step)
    }

    /// A comparison or a test of vectors: the mask.
    fn test(&mut self, row: &Row, width: Width, args: &[Id], immediate: Option<u8>) -> Id {
        let dst = self.value(Class::Mask, Home::Nowhere);
        self.push(Step { immediate, ..Step::new(at(row, width), dst, args) })
    }

    /// `yes` where the mask is set, else `no`.
    fn blend(&mut self, mask: Id, no: Id, yes: Id, width: Width) -> Id {
        let step = Step { mask: Some(mask), ..self.step(&t::BLEND, width, &[no, yes]) };
        self.push(step)
    }

    /// An operation on masks.
    fn masks(&mut self, code: Code, args: &[Id]) -> Id {
        let dst = self.value(Class::Mask, Home::Nowhere);
        self.push(Step { last: Last::Register, ..Step::new(code, dst, args) })
    }

    /// Returns from the code unless a mask is set in every lane.
    fn guard(&mut self, mask: Id) {
        let dst = self.value(Class::Mask, Home::Nowhere);
        let step = Step::new(Code::VEX_Kandnw_kr_kr_kr, dst, &[mask]);
        self.push(Step { last: Last::Register, guard: true, ..step });
    }

    /// A conversion between widths.
    fn convert(&mut self, code: Code, to: Width, a: Id, last: Last) -> Id {
        let dst = self.value(Class::Vector(to), Home::Nowhere);
        self.push(Step { last, ..Step::new(code, dst, &[a]) })
    }

    fn constant(&mut self, bits: u64, width: Width) -> Id {
        let first = ARGUMENTS + self.kernel.arguments.len();
        let word = match self.steps.pool[first..].iter().position(|&b| b == bits) {
            Some(n) => first + n,
            None => {
                self.steps.pool.push(bits);
                self.steps.pool.len() - 1
            }
        };
        let home = Home::Pool(word);
        let known = |v: &Valued| v.home == home && v.class == Class::Vector(width);
        match self.steps.values.iter().position(known) {
            Some(id) => id,
            None => self.value(Class::Vector(width), home),
        }
    }

    fn number(&mut self, dtype: DType, value: f64, width: Width) -> Id {
        self.constant(Scalar::from_f64(dtype, value).bits, width)
    }

    fn pointer(&mut self, param: usize, offsets: Vec<i32>) -> usize {
        let pointer = Pointer { param, offsets };
        match self.steps.pointers.iter().position(|p| *p == pointer) {
            Some(n) => n,
            None => {
                self.steps.pointers.push(pointer);
                self.steps.pointers.len() - 1
            }
        }
    }

    fn instruction(&mut self, inst: &Inst) -> Option<Id> {
        let dtype = inst.dtype;
        match &inst.op {
            Op::Const(scalar) => self.uniform(dtype, None, scalar.bits),
            Op::Argument(n) => self.uniform(dtype, Some(*n as usize), 0),
            Op::Coord(dim) => self.coordinate(*dim as usize, dtype),
            Op::Load { param, offsets } => self.load(*param as usize, offsets, dtype),
            Op::Unary(op, a) => self.unary(*op, self.id(*a), self.dtype(*a)),
            Op::Binary(op, a, b) => self.binary(*op, self.id(*a), self.id(*b), dtype),
            Op::Compare(op, a, b) => self.compare(*op, self.id(*a), self.id(*b), self.dtype(*a)),
            Op::Select(c, a, b) => {
                let (c, a, b) = (self.id(*c), self.id(*a), self.id(*b));
                if dtype == DType::Bool {
                    let yes = self.masks(Code::VEX_Kandw_kr_kr_kr, &[c, a]);
                    let no = self.masks(Code::VEX_Kandnw_kr_kr_kr, &[c, b]);
                    return Some(self.masks(Code::VEX_Korw_kr_kr_kr, &[yes, no]));
                }
                let width = self.width(dtype)?;
                Some(self.blend(c, b, a, width))
            }
            Op::Fma(a, b, c) => {
                let (args, width) = ([self.id(*a), self.id(*b), self.id(*c)], self.width(dtype)?);
                let step = Step { tied: true, swaps: true, ..self.step(&t::FMA, width, &args) };
                Some(self.push(step))
            }
            Op::Cast(a) => self.cast(self.id(*a), self.dtype(*a), dtype),
            Op::Bitcast(a) => self.class(dtype).map(|_| self.id(*a)),
            Op::Math1(..) | Op::Math2(..) => None,
        }
    }

    /// A constant or an argument.
    fn uniform(&mut self, dtype: DType, argument: Option<usize>, bits: u64) -> Option<Id> {
        let width = match dtype {
            DType::Bool => self.width(DType::I32)?,
            _ => self.width(dtype)?,
        };
        let id = match argument {
            Some(n) => self.value(Class::Vector(width), Home::Pool(ARGUMENTS + n)),
            None => self.constant(bits, width),
        };
        Some(if dtype == DType::Bool { self.test(&t::TEST, width, &[id, id], None) } else { id })
    }

    fn coordinate(&mut self, dim: usize, dtype: DType) -> Option<Id> {
        let width = self.width(dtype)?;
        let n = self.steps.coordinates.iter().position(|&d| d == dim).unwrap_or_else(|| {
            self.steps.coordinates.push(dim);
            self.steps.coordinates.len() - 1
        });
        // Its word comes behind the pointers, whose number is known in the end.
        let first = self.value(Class::Vector(width), Home::Row(n));
        if !self.shape.along(dim) {
            return Some(first);
        }
        let counted = if width == Width::Longs { COUNTED_LONG } else { COUNTED };
        let counted = self.value(Class::Vector(width), Home::Lanes(counted));
        let first = self.op(&t::IADD, width, &[first, counted]);
        let step = Step { index: true, ..self.step(&t::INDEX, width, &[]) };
        let index = self.push(step);
        Some(self.either(&t::IADD, width, &[index, first]))
    }

    fn load(&mut self, param: usize, offsets: &[i32], dtype: DType) -> Option<Id> {
        if self.shape.splats[param] {
            let width = self.width(dtype)?;
            let pointer = self.pointer(param, offsets.to_vec());
            return Some(self.value(Class::Vector(width), Home::Element { pointer }));
        }
        let mut apart = offsets.to_vec();
        let along = self.shape.unit.map_or(0, |dim| std::mem::take(&mut apart[dim]));
        let bytes = along.checked_mul(dtype.size_bytes() as i32)?;
        let pointer = self.pointer(param, apart);
        let home = Home::Array { pointer, bytes };
        if dtype != DType::Bool {
            let class = self.class(dtype)?;
            return Some(self.value(class, home));
        }
        let read = self.value(Class::Bytes, home);
        let dst = self.value(Class::Mask, Home::Nowhere);
        let code = Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128;
        Some(self.push(Step { last: Last::Memory, ..Step::new(code, dst, &[read, read]) }))
    }

    /// What a store writes: bools as bytes, and loads in a register.
    fn stored(&mut self, value: Value) -> Option<Id> {
        let id = self.id(value);
        match self.class(self.dtype(value))? {
            Class::Mask => {
                let ones = self.value(Class::Bytes, Home::Lanes(ONES));
                let dst = self.value(Class::Bytes, Home::Nowhere);
                let step = Step::new(Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128, dst, &[ones]);
                Some(self.push(Step { mask: Some(id), zeroing: true, last: Last::Memory, ..step }))
            }
            Class::Vector(width) if matches!(self.steps.values[id].home, Home::Array { .. }) => {
                let step = Step { last: Last::Memory, ..self.step(&t::LOAD, width, &[id]) };
                Some(self.push(step))
            }
            Class::Vector(_) | Class::Bytes => Some(id),
        }
    }

    fn unary(&mut self, op: UnaryOp, a: Id, dtype: DType) -> Option<Id> {
        if dtype == DType::Bool {
            return Some(self.masks(Code::VEX_Knotw_kr_kr, &[a]));
        }
        let width = self.width(dtype)?;
        let float = dtype.is_float();
        let sign = 1u64 << (8 * dtype.size_bytes() - 1);
        Some(match op {
            UnaryOp::Neg if float => {
                let sign = self.constant(sign, width);
                self.either(&t::XOR, width, &[a, sign])
            }
            UnaryOp::Neg => {
                let zero = self.constant(0, width);
                self.op(&t::ISUB, width, &[zero, a])
            }
            UnaryOp::Abs if float => {
                let rest = self.constant(sign - 1, width);
                self.either(&t::AND, width, &[a, rest])
            }
            UnaryOp::Abs if dtype.kind() == Kind::Uint => a,
            UnaryOp::Abs => self.op(&t::IABS, width, &[a]),
            UnaryOp::Not => {
                let all = self.constant(sign | (sign - 1), width);
                self.either(&t::XOR, width, &[a, all])
            }
            UnaryOp::Sqrt => self.op(&t::SQRT, width, &[a]),
            UnaryOp::Floor => self.with(&t::ROUND, width, &[a], DOWN),
            UnaryOp::Ceil => self.with(&t::ROUND, width, &[a], UP),
            UnaryOp::Trunc => self.with(&t::ROUND, width, &[a], TO_ZERO),
            UnaryOp::Round => self.with(&t::ROUND, width, &[a], NEAREST),
            UnaryOp::IsNan => self.test(&t::COMPARE, width, &[a, a], Some(UNORDERED)),
        })
    }

    fn binary(&mut self, op: BinaryOp, a: Id, b: Id, dtype: DType) -> Option<Id> {
        match dtype.kind() {
            Kind::Bool => self.binary_bool(op, a, b),
            Kind::Float => self.binary_float(op, a, b, self.width(dtype)?),
            Kind::Int | Kind::Uint => self.binary_int(op, a, b, dtype, self.width(dtype)?),
        }
    }

    fn binary_bool(&mut self, op: BinaryOp, a: Id, b: Id) -> Option<Id> {
        let code = match op {
            BinaryOp::And | BinaryOp::Min => Code::VEX_Kandw_kr_kr_kr,
            BinaryOp::Or | BinaryOp::Max => Code::VEX_Korw_kr_kr_kr,
            BinaryOp::Xor => Code::VEX_Kxorw_kr_kr_kr,
            _ => return None,
        };
        Some(self.masks(code, &[a, b]))
    }

    fn binary_float(&mut self, op: BinaryOp, a: Id, b: Id, width: Width) -> Option<Id> {
        let least = |this: &mut Self, row: &Row| {
            // The instruction gives the second operand if either is NaN.
            let least = this.op(row, width, &[a, b]);
            let nan = this.test(&t::COMPARE, width, &[a, a], Some(UNORDERED));
            this.blend(nan, least, a, width)
        };
        Some(match op {
            BinaryOp::Add => self.either(&t::ADD, width, &[a, b]),
            BinaryOp::Sub => self.op(&t::SUB, width, &[a, b]),
            BinaryOp::Mul => self.either(&t::MUL, width, &[a, b]),
            BinaryOp::Div => self.op(&t::DIV, width, &[a, b]),
            BinaryOp::Min => least(self, &t::MIN),
            BinaryOp::Max => least(self, &t::MAX),
            _ => return None,
        })
    }

    fn binary_int(&mut self, op: BinaryOp, a: Id, b: Id, dtype: DType, width: Width) -> Option<Id> {
        let signed = dtype.kind() == Kind::Int;
        let pick = |yes: &'static Row, no: &'static Row| if signed { yes } else { no };
        let shift = |this: &mut Self, row: &Row| {
            let most = this.constant(8 * dtype.size_bytes() as u64 - 1, width);
            let count = this.either(&t::AND, width, &[b, most]);
            this.op(row, width, &[a, count])
        };
        Some(match op {
            BinaryOp::Add => self.either(&t::IADD, width, &[a, b]),
            BinaryOp::Sub => self.op(&t::ISUB, width, &[a, b]),
            BinaryOp::Mul => self.either(&t::IMUL, width, &[a, b]),
            BinaryOp::Min => self.either(pick(&t::SMIN, &t::UMIN), width, &[a, b]),
            BinaryOp::Max => self.either(pick(&t::SMAX, &t::UMAX), width, &[a, b]),
            BinaryOp::And => self.either(&t::AND, width, &[a, b]),
            BinaryOp::Or => self.either(&t::OR, width, &[a, b]),
            BinaryOp::Xor => self.either(&t::XOR, width, &[a, b]),
            BinaryOp::Shl => shift(self, &t::SHL),
            BinaryOp::Shr => shift(self, pick(&t::SAR, &t::SHR)),
            BinaryOp::Div | BinaryOp::Rem => return None,
        })
    }

    fn compare(&mut self, op: CompareOp, a: Id, b: Id, dtype: DType) -> Option<Id> {
        use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
        if dtype == DType::Bool {
            let not = |this: &mut Self, a: Id| this.masks(Code::VEX_Knotw_kr_kr, &[a]);
            let (code, a, b) = match op {
                Eq => (Code::VEX_Kxnorw_kr_kr_kr, a, b),
                Ne => (Code::VEX_Kxorw_kr_kr_kr, a, b),
                Lt => (Code::VEX_Kandnw_kr_kr_kr, a, b),
                Gt => (Code::VEX_Kandnw_kr_kr_kr, b, a),
                Le => (Code::VEX_Korw_kr_kr_kr, not(self, a), b),
                Ge => (Code::VEX_Korw_kr_kr_kr, not(self, b), a),
            };
            return Some(self.masks(code, &[a, b]));
        }
        let width = self.width(dtype)?;
        let (row, immediate) = match (dtype.kind(), op) {
            (Kind::Float, Eq) => (&t::COMPARE, 0),
            (Kind::Float, Ne) => (&t::COMPARE, 4),
            (Kind::Float, Lt) => (&t::COMPARE, 17),
            (Kind::Float, Le) => (&t::COMPARE, 18),
            (Kind::Float, Ge) => (&t::COMPARE, 29),
            (Kind::Float, Gt) => (&t::COMPARE, 30),
            (kind, op) => {
                let row = if kind == Kind::Int { &t::SCOMPARE } else { &t::UCOMPARE };
                let immediate = match op {
                    Eq => 0,
                    Lt => 1,
                    Le => 2,
                    Ne => 4,
                    Ge => 5,
                    Gt => 6,
                };
                (row, immediate)
            }
        };
        Some(self.test(row, width, &[a, b], Some(immediate)))
    }

    fn cast(&mut self, a: Id, from: DType, to: DType) -> Option<Id> {
        self.class(from)?;
        self.class(to)?;
        match (from.kind(), to.kind()) {
            _ if from == to => Some(a),
            (Kind::Bool, _) => {
                let width = self.width(to)?;
                let (no, yes) = (self.constant(0, width), self.number(to, 1.0, width));
                Some(self.blend(a, no, yes, width))
            }
            (Kind::Float, Kind::Bool) => {
                let width = self.width(from)?;
                let zero = self.constant(0, width);
                Some(self.test(&t::COMPARE, width, &[a, zero], Some(4)))
            }
            (_, Kind::Bool) => {
                let width = self.width(from)?;
                Some(self.test(&t::TEST, width, &[a, a], None))
            }
            (Kind::Float, Kind::Float) => self.float_to_float(a, to),
            (Kind::Float, _) => self.float_to_int(a, from, to),
            (_, Kind::Float) => self.int_to_float(a, from, to),
            (_, _) => self.int_to_int(a, from, to),
        }
    }

    fn float_to_float(&mut self, a: Id, to: DType) -> Option<Id> {
        let code = match to {
            DType::F64 => Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
            _ => Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
        };
        let width = self.width(to)?;
        Some(self.convert(code, width, a, Last::Element))
    }

    fn int_to_int(&mut self, a: Id, from: DType, to: DType) -> Option<Id> {
        let width = self.width(to)?;
        Some(match (from.size_bytes(), to.size_bytes()) {
            (4, 8) => {
                let code = match from.kind() {
                    Kind::Int => Code::EVEX_Vpmovsxdq_zmm_k1z_ymmm256,
                    _ => Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
                };
                self.convert(code, width, a, Last::Memory)
            }
            (8, 4) => self.convert(Code::EVEX_Vpmovqd_ymmm256_k1z_zmm, width, a, Last::Register),
            _ => a,
        })
    }

    fn int_to_float(&mut self, a: Id, from: DType, to: DType) -> Option<Id> {
        let width = self.width(to)?;
        let signed = from.kind() == Kind::Int;
        let code = match (from.size_bytes(), to.size_bytes(), signed) {
            (4, 8, true) => Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
            (4, 8, false) => Code::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er,
            (8, 4, true) => Code::EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er,
            (8, 4, false) => Code::EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er,
            (_, _, true) => at(&t::FROM_INT, width),
            (_, _, false) => at(&t::FROM_UINT, width),
        };
        Some(self.convert(code, width, a, Last::Element))
    }

    /// Truncates, saturates, and makes 0 of NaN.
    fn float_to_int(&mut self, a: Id, from: DType, to: DType) -> Option<Id> {
        let (narrow, width) = (self.width(from)?, self.width(to)?);
        let signed = to.kind() == Kind::Int;
        let code = match (from.size_bytes(), to.size_bytes(), signed) {
            (4, 8, true) => Code::EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae,
            (4, 8, false) => Code::EVEX_Vcvttps2uqq_zmm_k1z_ymmm256b32_sae,
            (8, 4, true) => Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae,
            (8, 4, false) => Code::EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae,
            (_, _, true) => at(&t::TO_INT, width),
            (_, _, false) => at(&t::TO_UINT, width),
        };
        let zero = self.constant(0, narrow);
        if !signed {
            // The second operand, 0, if the first is NaN. What is too large gives all bits set.
            let positive = self.op(&t::MAX, narrow, &[a, zero]);
            return Some(self.convert(code, width, positive, Last::Element));
        }
        // What is too small gives the least integer, and so does what is too large.
        let bits = 8 * to.size_bytes() as i32;
        let beyond = self.number(from, f64::powi(2.0, bits - 1), narrow);
        let most = self.constant((1u64 << (bits - 1)) - 1, width);
        let number = self.test(&t::COMPARE, narrow, &[a, a], Some(ORDERED));
        let dst = self.value(Class::Vector(width), Home::Nowhere);
        let near = self.push(Step { mask: Some(number), zeroing: true, ..Step::new(code, dst, &[a]) });
        let above = self.test(&t::COMPARE, narrow, &[a, beyond], Some(29));
        Some(self.blend(above, near, most, width))
    }
}
