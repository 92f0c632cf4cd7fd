//! From the IR to instructions: what is read, what is written, and where both lie. Rows that are computed
//! together go through the body instruction by instruction, and what two of them read is one value. It does
//! not know registers; `arithmetic` and `cast` have the instructions of operations.

use iced_x86::Code;

use super::steps::{Class, Home, Id, Last, Pointer, Step, Steps, Stored, Valued};
use super::table::{self as t, Row, Width, at};
use super::{Jam, Lying, Shape, ahead};
use crate::dtype::{DType, Scalar};
use crate::ir::{Form, Inst, Kernel, Op, Store, Value};

/// Words of the pool: sixteen bytes of 1; 0, 1, .. as 4-byte and as 8-byte lanes; every second bit; the
/// launch's arguments.
const ONES: usize = 0;
const COUNTED: usize = 2;
const COUNTED_LONG: usize = 10;
/// The first argument; constants follow the last.
pub(super) const ARGUMENTS: usize = 19;
pub(super) const EVENS: usize = 18;

/// The steps of an elementwise kernel without mathematical functions, or `None` if something in it has no
/// instructions here. `jam` has how many rows go together, and where they lie.
///
/// The outputs from parameter `guards` on are not stored: where one of them is false, the code returns.
pub(super) fn select(
    kernel: &Kernel,
    shape: &Shape,
    guards: usize,
    jam: Option<(&Jam, usize)>,
    order: Order,
) -> Option<Steps> {
    let Form::Elementwise { stores } = &kernel.form else { return None };
    let is_guard = |store: &&Store| store.param as usize >= guards;
    let live = live(kernel);
    let used = || kernel.body.iter().zip(&live).filter(|(_, live)| **live).map(|(inst, _)| inst);
    let long = used().any(|inst| inst.dtype.size_bytes() == 8);
    let mut selection = Selection {
        kernel,
        shape,
        jam: jam.map(|(jam, _)| jam),
        row: 0,
        guards: stores.iter().filter(is_guard).map(|guard| guard.value).collect(),
        long,
        ids: vec![Vec::new(); kernel.body.len()],
        steps: Steps {
            lanes: if long { 8 } else { 16 },
            values: Vec::new(),
            prologue: Vec::new(),
            body: Vec::new(),
            stores: Vec::new(),
            ahead: Vec::new(),
            written: Vec::new(),
            pointers: Vec::new(),
            coordinates: Vec::new(),
            pool: pool(kernel.arguments.len()),
        },
    };
    let rows = jam.map_or(1, |(_, rows)| rows);
    for (n, inst) in order.of(kernel).into_iter().map(|n| (n, &kernel.body[n])).filter(|&(n, _)| live[n]) {
        for row in 0..rows {
            selection.row = row;
            let id = match selection.like_the_first(inst) {
                true => selection.ids[n][0],
                false => selection.instruction(inst)?,
            };
            selection.ids[n].push(id);
        }
        if stores.iter().filter(is_guard).any(|guard| guard.value.index() == n) {
            selection.ids[n].clone().into_iter().for_each(|id| selection.guard(id));
        }
    }
    // What is stored as it was loaded is read before anything is written.
    let here = vec![0; kernel.rank];
    let mut stored = Vec::new();
    for store in stores.iter().filter(|store| !is_guard(store)) {
        for row in 0..rows {
            selection.row = row;
            let value = selection.stored(store.value)?;
            let (pointer, bytes) = selection.place(store.param as usize, &here)?;
            match selection.shape.lying[store.param as usize] {
                Lying::Seconds => {
                    let width = selection.width(selection.dtype(store.value))?;
                    stored.extend(selection.store_seconds(value, pointer, bytes, width));
                }
                Lying::Row | Lying::Splat => {
                    stored.push(Stored { value, home: Home::Array { pointer, bytes } })
                }
            }
        }
    }
    selection.steps.stores = stored;
    selection.steps.ahead = ahead::ahead(&selection.steps, kernel, jam);
    selection.steps.written = ahead::written(&selection.steps, kernel, jam);
    Some(selection.steps)
}

fn pool(arguments: usize) -> Vec<u64> {
    let ones = [0x0101_0101_0101_0101; 2];
    let pairs = (0..8).map(|n| (2 * n) | ((2 * n + 1) << 32));
    let mut pool: Vec<u64> = ones.into_iter().chain(pairs).chain(0..8).chain([0x5555_5555]).collect();
    pool.resize(ARGUMENTS + arguments, 0);
    pool
}

/// In which order instructions are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// As the kernel has them.
    Given,
    /// Each where the furthest place that it depends on is read. Sums over faces, over edges and over
    /// corners, one after the other in the kernel, then go through the planes side by side, and what one of
    /// them has read is still in a register when another needs it.
    ByPlace,
}

impl Order {
    /// The order of a kernel's instructions: operands come before their users.
    fn of(self, kernel: &Kernel) -> Vec<usize> {
        let mut order: Vec<usize> = (0..kernel.body.len()).collect();
        if self == Order::Given {
            return order;
        }
        let mut furthest: Vec<Option<(&[i32], u32)>> = Vec::with_capacity(order.len());
        for inst in &kernel.body {
            furthest.push(match &inst.op {
                Op::Load { param, offsets } => Some((offsets, *param)),
                op => op.operands().filter_map(|value| furthest[value.index()]).max(),
            });
        }
        // Stable, and no instruction's place is before its operands'.
        order.sort_by_key(|&n| furthest[n]);
        order
    }
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

pub(super) struct Selection<'k> {
    pub(super) kernel: &'k Kernel,
    shape: &'k Shape,
    /// Where rows lie that are computed together.
    jam: Option<&'k Jam>,
    /// Which of them.
    row: usize,
    /// Booleans that are true, or what comes after them is not stored.
    pub(super) guards: Vec<Value>,
    /// Some values have 8 bytes.
    long: bool,
    /// Per value of the kernel, one of each row.
    ids: Vec<Vec<Id>>,
    pub(super) steps: Steps,
}

impl Selection<'_> {
    pub(super) fn class(&self, dtype: DType) -> Option<Class> {
        match dtype {
            DType::Bool => Some(Class::Mask),
            DType::F32 | DType::I32 | DType::U32 if self.long => Some(Class::Vector(Width::HalfWords)),
            DType::F32 | DType::I32 | DType::U32 => Some(Class::Vector(Width::Words)),
            DType::F64 | DType::I64 | DType::U64 => Some(Class::Vector(Width::Longs)),
            DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::F16 | DType::BF16 => None,
        }
    }

    pub(super) fn width(&self, dtype: DType) -> Option<Width> {
        match self.class(dtype)? {
            Class::Vector(width) => Some(width),
            Class::Bytes | Class::Mask => None,
        }
    }

    pub(super) fn dtype(&self, value: Value) -> DType {
        self.kernel.body[value.index()].dtype
    }

    pub(super) fn id(&self, value: Value) -> Id {
        *self.ids[value.index()].get(self.row).expect("operands come before their users")
    }

    /// Is an instruction's value the first row's, because what it reads is?
    fn like_the_first(&self, inst: &Inst) -> bool {
        let shared = |value: Value| self.id(value) == self.ids[value.index()][0];
        let varies = match inst.op {
            Op::Load { .. } => true,
            Op::Coord(dim) => self.jam.is_some_and(|jam| jam.dim == dim as usize),
            _ => false,
        };
        self.row > 0 && !varies && inst.op.operands().into_iter().all(shared)
    }

    pub(super) fn value(&mut self, class: Class, home: Home) -> Id {
        self.steps.values.push(Valued { class, home, uniform: home.is_uniform() });
        self.steps.values.len() - 1
    }

    /// Adds an instruction, to the prologue if all it reads is the same in every block.
    pub(super) fn push(&mut self, step: Step) -> Id {
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

    pub(super) fn step(&mut self, row: &Row, width: Width, args: &[Id]) -> Step {
        let dst = self.value(Class::Vector(width), Home::Nowhere);
        Step::new(at(row, width), dst, args)
    }

    pub(super) fn op(&mut self, row: &Row, width: Width, args: &[Id]) -> Id {
        let step = self.step(row, width, args);
        self.push(step)
    }

    /// An operation whose operands may change places.
    pub(super) fn either(&mut self, row: &Row, width: Width, args: &[Id]) -> Id {
        let step = Step { swaps: true, ..self.step(row, width, args) };
        self.push(step)
    }

    pub(super) fn with(&mut self, row: &Row, width: Width, args: &[Id], immediate: u8) -> Id {
        let step = Step { immediate: Some(immediate), ..self.step(row, width, args) };
        self.push(step)
    }

    /// A comparison or a test of vectors: the mask.
    pub(super) fn test(&mut self, row: &Row, width: Width, args: &[Id], immediate: Option<u8>) -> Id {
        let dst = self.value(Class::Mask, Home::Nowhere);
        self.push(Step { immediate, ..Step::new(at(row, width), dst, args) })
    }

    /// `yes` where the mask is set, else `no`.
    pub(super) fn blend(&mut self, mask: Id, no: Id, yes: Id, width: Width) -> Id {
        let step = Step { mask: Some(mask), ..self.step(&t::BLEND, width, &[no, yes]) };
        self.push(step)
    }

    /// An operation on masks.
    pub(super) fn masks(&mut self, code: Code, args: &[Id]) -> Id {
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
    pub(super) fn convert(&mut self, code: Code, to: Width, a: Id, last: Last) -> Id {
        let dst = self.value(Class::Vector(to), Home::Nowhere);
        self.push(Step { last, ..Step::new(code, dst, &[a]) })
    }

    pub(super) fn constant(&mut self, bits: u64, width: Width) -> Id {
        let first = ARGUMENTS + self.kernel.arguments.len();
        let word = match self.steps.pool[first..].iter().position(|&b| b == bits) {
            Some(n) => first + n,
            None => {
                self.steps.pool.push(bits);
                self.steps.pool.len() - 1
            }
        };
        self.at_home(Class::Vector(width), Home::Pool(word))
    }

    /// The value that can be read there.
    pub(super) fn at_home(&mut self, class: Class, home: Home) -> Id {
        let known = |v: &Valued| v.home == home && v.class == class;
        match self.steps.values.iter().position(known) {
            Some(id) => id,
            None => self.value(class, home),
        }
    }

    pub(super) fn number(&mut self, dtype: DType, value: f64, width: Width) -> Id {
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
            Op::Cast(a) => self.cast(*a, dtype),
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
        let mut first = self.at_home(Class::Vector(width), Home::Row(n));
        if self.row > 0 && self.jam.is_some_and(|jam| jam.dim == dim) {
            let row = self.constant(self.row as u64, width);
            first = self.op(&t::IADD, width, &[first, row]);
        }
        if !self.shape.along(dim) {
            return Some(first);
        }
        let counted = if width == Width::Longs { COUNTED_LONG } else { COUNTED };
        let counted = self.at_home(Class::Vector(width), Home::Lanes(counted));
        let first = self.op(&t::IADD, width, &[first, counted]);
        let step = Step { index: true, ..self.step(&t::INDEX, width, &[]) };
        let index = self.push(step);
        Some(self.either(&t::IADD, width, &[index, first]))
    }

    /// Where the row of a parameter is, or its neighbour at these offsets: a pointer, and the bytes from it.
    fn place(&mut self, param: usize, offsets: &[i32]) -> Option<(usize, i32)> {
        let size = self.kernel.params[param].dtype.size_bytes() as i64;
        let mut apart = offsets.to_vec();
        let away = match self.jam {
            Some(jam) => {
                apart[jam.dim] = apart[jam.dim].checked_add(self.row as i32)?;
                let far = jam.strides[param].iter().zip(&apart);
                let away: Option<i64> = far.map(|(&s, &d)| s.checked_mul(d.into())).sum();
                apart.fill(0);
                away?
            }
            None if self.shape.lying[param] == Lying::Splat => 0,
            None => self.shape.unit.map_or(0, |dim| std::mem::take(&mut apart[dim])).into(),
        };
        let bytes = i32::try_from(away.checked_mul(size)?).ok()?;
        Some((self.pointer(param, apart), bytes))
    }

    fn load(&mut self, param: usize, offsets: &[i32], dtype: DType) -> Option<Id> {
        let (pointer, bytes) = self.place(param, offsets)?;
        match self.shape.lying[param] {
            Lying::Splat => {
                let width = self.width(dtype)?;
                return Some(self.at_home(Class::Vector(width), Home::Element { pointer, bytes }));
            }
            Lying::Seconds => {
                let width = self.width(dtype)?;
                return Some(self.load_seconds(pointer, bytes, width));
            }
            Lying::Row => {}
        }
        let home = Home::Array { pointer, bytes };
        if dtype != DType::Bool {
            let class = self.class(dtype)?;
            return Some(self.at_home(class, home));
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
                let ones = self.at_home(Class::Bytes, Home::Lanes(ONES));
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
}
