//! The launch block: where each word is, and how a launch becomes words. Shared by the writer,
//! which reads the words in text, and the device, which writes them.

use crate::dtype::{DType, Scalar};
use crate::ir::{Fold, Form, Kernel, Launch, Offsets, Op, Value};
use crate::verify::Verified;

/// The numbers of one dispatch that are not in its [`Launch`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// Workgroups along x and y; the rest of a linear workgroup number is in z.
    pub groups: [u32; 2],
    /// Items (points or packs) to visit: those of one row if `chunks > 0`, of everything otherwise.
    pub limit: u32,
    /// Workgroups that share one row of the innermost dimension; 0: rows are not aligned to workgroups.
    pub chunks: u32,
    /// Rows of the innermost dimension; reductions: points of the dimensions that stay.
    pub kept: u32,
    /// Reductions: number of the first folded value. Packs: how many a row has.
    pub first: u32,
    /// Reductions: the number behind the last folded value; from there on values are neutral. Scans: points
    /// of a line.
    pub end: u32,
    /// Reductions: log2 of the neighbouring invocations that fold one block.
    pub log_threads: u32,
    /// Reductions: chunks that each of them folds, a power of two.
    pub steps: u32,
    /// Reductions: element of the first partial result that is read.
    pub partials_in: u32,
    /// Reductions: element of the first partial result that is written.
    pub partials_out: u32,
    /// Gather and scatter: first index in the bound window.
    pub window_first: u64,
    /// Gather and scatter: indices in the bound window.
    pub window_count: u32,
    /// Gather and scatter: element of the binding that holds the window's first index.
    pub window_element: u32,
}

// Word 0 is a zero that the driver cannot know (routine `hide32`).
pub(super) const GROUPS_X: usize = 1;
pub(super) const GROUPS_Y: usize = 2;
pub(super) const LIMIT: usize = 3;
pub(super) const CHUNKS: usize = 4;
pub(super) const KEPT: usize = 5;
pub(super) const FIRST: usize = 6;
pub(super) const PACKS: usize = FIRST;
pub(super) const END: usize = 7;
pub(super) const LOG_THREADS: usize = 8;
pub(super) const STEPS: usize = 9;
pub(super) const PARTIALS_IN: usize = 10;
pub(super) const PARTIALS_OUT: usize = 11;
pub(super) const WINDOW_FIRST: usize = 12;
pub(super) const WINDOW_COUNT: usize = 14;
pub(super) const WINDOW_ELEMENT: usize = 15;
/// The header ends with a whole vector of four words.
const HEADER: usize = WINDOW_ELEMENT + 1;

/// Consecutive values that one invocation of a reduction combines in registers, a power of two.
pub const CHUNK: u32 = 16;
/// Most chunks that one invocation of a reduction folds, a power of two.
pub const MAX_STEPS: u32 = 4;

impl Header {
    fn words(&self) -> [u32; HEADER] {
        let mut words = [0; HEADER];
        words[GROUPS_X] = self.groups[0];
        words[GROUPS_Y] = self.groups[1];
        words[LIMIT] = self.limit;
        words[CHUNKS] = self.chunks;
        words[KEPT] = self.kept;
        words[FIRST] = self.first;
        words[END] = self.end;
        words[LOG_THREADS] = self.log_threads;
        words[STEPS] = self.steps;
        words[PARTIALS_IN] = self.partials_in;
        words[PARTIALS_OUT] = self.partials_out;
        words[WINDOW_FIRST] = self.window_first as u32;
        words[WINDOW_FIRST + 1] = (self.window_first >> 32) as u32;
        words[WINDOW_COUNT] = self.window_count;
        words[WINDOW_ELEMENT] = self.window_element;
        words
    }
}

/// The neutral element of each stream of a fold.
pub(super) fn neutrals(kernel: &Kernel, fold: &Fold) -> Vec<Scalar> {
    let of = |param: u32| kernel.params[param as usize].dtype;
    match *fold {
        Fold::Value { op, output, .. } => vec![op.neutral(of(output))],
        Fold::Arg { largest, value_output, index_output, .. } => {
            vec![Scalar::extreme(of(value_output), !largest), Scalar::extreme(of(index_output), true)]
        }
    }
}

/// The constant as the type that its register has.
pub(super) fn in_register(scalar: Scalar) -> Scalar {
    match scalar.dtype {
        DType::F16 | DType::BF16 => Scalar::from_f64(DType::F32, scalar.to_f64()),
        _ => scalar,
    }
}

/// Whether a constant is a float that is not normal in its register: a zero, a subnormal, an infinity or NaN.
fn is_hard(scalar: Scalar) -> bool {
    let scalar = in_register(scalar);
    match scalar.dtype {
        DType::F64 => !f64::from_bits(scalar.bits).is_normal(),
        DType::F32 => !f32::from_bits(scalar.bits as u32).is_normal(),
        _ => false,
    }
}

/// The constants that compilers may not see, because they fold them as if zeros had no sign and there were
/// neither infinities nor NaN: floats that are not normal, and those that would be folded among themselves
/// and might give such.
fn constants(kernel: &Kernel) -> impl Iterator<Item = Scalar> {
    let constant = |value: Value| match kernel.body[value.index()].op {
        Op::Const(scalar) => Some(scalar),
        _ => None,
    };
    let of_body = (0..kernel.body.len() as u32).map(Value).filter_map(constant);
    let folds = match &kernel.form {
        Form::Reduce { folds, .. } => &folds[..],
        Form::Elementwise { .. } | Form::Scan(_) | Form::Gather { .. } | Form::Scatter { .. } => &[],
    };
    let hard = of_body.chain(folds.iter().flat_map(|fold| neutrals(kernel, fold)));
    let alone = kernel.body.iter().flat_map(move |inst| {
        let conditions = usize::from(matches!(inst.op, Op::Select(..)));
        let operands: Option<Vec<Scalar>> = inst.op.operands().skip(conditions).map(constant).collect();
        operands.unwrap_or_default()
    });
    hard.filter(|&scalar| is_hard(scalar)).chain(alone.filter(|scalar| scalar.dtype.is_float()))
}

/// Positions in the launch block, in words of 32 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchBlockLayout {
    rank: usize,
    /// Distinct loads away from the point; each has a word with its distance in elements.
    loads: Vec<(u32, Offsets)>,
    arguments: Vec<(usize, DType)>,
    /// Constants that compilers may not see, as their registers have them: the last words of every block.
    constants: Vec<(usize, Scalar)>,
    /// Length of the block.
    pub words: usize,
}

impl LaunchBlockLayout {
    pub(super) fn new(verified: &Verified) -> LaunchBlockLayout {
        let kernel = verified.kernel();
        let away = verified.footprint().loads().iter().filter(|site| !site.is_at_point());
        let loads = away.map(|site| (site.param, site.offsets.clone())).collect();
        let mut layout = LaunchBlockLayout {
            rank: kernel.rank,
            loads,
            arguments: Vec::new(),
            constants: Vec::new(),
            words: 0,
        };
        let mut at = layout.delta(layout.params_end(kernel.params.len()));
        for &dtype in &kernel.arguments {
            layout.arguments.push((at, dtype));
            at += dtype.size_bytes().div_ceil(4);
        }
        for scalar in constants(kernel).map(in_register) {
            if layout.constant(scalar).is_none() {
                layout.constants.push((at, scalar));
                at += scalar.dtype.size_bytes().div_ceil(4);
            }
        }
        layout.words = at;
        layout
    }

    /// Extent of a dimension.
    pub(super) fn extent(&self, dim: usize) -> usize {
        HEADER + dim
    }

    /// Folded values between neighbours of a dimension.
    pub(super) fn divisor(&self, dim: usize) -> usize {
        HEADER + self.rank + dim
    }

    /// Low word of the origin of a dimension; the high word follows.
    pub(super) fn origin(&self, dim: usize) -> usize {
        HEADER + 2 * self.rank + 2 * dim
    }

    /// Element offset of a parameter within its binding.
    pub(super) fn offset(&self, param: u32) -> usize {
        HEADER + 4 * self.rank + param as usize * (1 + self.rank)
    }

    /// Stride of a parameter.
    pub(super) fn stride(&self, param: u32, dim: usize) -> usize {
        self.offset(param) + 1 + dim
    }

    fn params_end(&self, params: usize) -> usize {
        self.offset(params as u32)
    }

    fn delta(&self, params_end: usize) -> usize {
        params_end + self.loads.len()
    }

    /// Distance of a load from its point, if it is not zero.
    pub(super) fn load(&self, param: u32, offsets: &Offsets, params: usize) -> Option<usize> {
        let found = self.loads.iter().position(|(p, d)| *p == param && d == offsets)?;
        Some(self.params_end(params) + found)
    }

    /// Low word of a scalar argument; the high word of a 64-bit one follows.
    pub(super) fn argument(&self, n: u32) -> usize {
        self.arguments[n as usize].0
    }

    /// Low word of a constant that compilers may not see, as its register has it; the high word of a 64-bit
    /// one follows.
    pub(super) fn constant(&self, scalar: Scalar) -> Option<usize> {
        self.constants.iter().find(|(_, known)| *known == scalar).map(|(at, _)| *at)
    }

    /// The block of one dispatch. `offsets` are the parameters' element offsets within their bindings;
    /// `divisors` are the folded values between neighbours of each dimension of a reduction, or none.
    /// Elements and strides are truncated to 32 bits: windows are so small that sums come out right.
    pub fn block(&self, header: &Header, launch: &Launch, offsets: &[u32], divisors: &[u32]) -> Vec<u32> {
        let mut words = Vec::with_capacity(self.words);
        words.extend(header.words());
        words.extend(launch.extents.iter().map(|&e| e as u32));
        words.extend((0..self.rank).map(|k| divisors.get(k).copied().unwrap_or(0)));
        words.extend(launch.origin.iter().flat_map(|&o| [o as u32, (o >> 32) as u32]));
        for (view, &offset) in launch.views.iter().zip(offsets) {
            words.push(offset);
            words.extend(view.strides.iter().map(|&s| s as u32));
        }
        for (param, delta) in &self.loads {
            let strides = &launch.views[*param as usize].strides;
            words
                .push(strides.iter().zip(delta).map(|(&s, &d)| s.wrapping_mul(i64::from(d))).sum::<i64>()
                    as u32);
        }
        for scalar in launch.arguments.iter().chain(self.constants.iter().map(|(_, scalar)| scalar)) {
            words.push(scalar.bits as u32);
            if scalar.dtype.size_bytes() == 8 {
                words.push((scalar.bits >> 32) as u32);
            }
        }
        debug_assert_eq!(words.len(), self.words);
        words.resize(self.words.next_multiple_of(4), 0);
        words
    }
}
