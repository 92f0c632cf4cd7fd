//! Branches: a select of which one side takes many instructions. These run only if a point needs them. The
//! argument reduction of large angles is such a side. Writers of code for GPUs share them.

use crate::ir::{Kernel, Op, Value};

/// Instructions of one side of a select that are worth a branch.
const LONG: usize = 24;

/// Instructions that only one side of some selects needs.
pub(crate) struct Branch {
    pub condition: Value,
    /// The side that needs them: true of the condition.
    pub side: bool,
    pub body: Vec<usize>,
    /// All of them take place where the last one stands.
    pub selects: Vec<usize>,
}

impl Branch {
    /// The instruction at which it takes place.
    pub fn place(&self) -> usize {
        *self.selects.last().expect("a branch has selects")
    }

    /// The operand that a select gives if the condition is `self.side`, or is not.
    pub fn operand(&self, kernel: &Kernel, select: usize, own: bool) -> Value {
        let Op::Select(_, yes, no) = kernel.body[select].op else { unreachable!("{select} is a select") };
        if self.side == own { yes } else { no }
    }
}

/// Which values are the same for every point: constants, arguments and what follows from them.
pub(crate) fn uniform(kernel: &Kernel) -> Vec<bool> {
    let mut uniform: Vec<bool> = Vec::new();
    for inst in &kernel.body {
        uniform.push(match inst.op {
            Op::Load { .. } | Op::Coord(_) => false,
            _ => inst.op.operands().all(|v| uniform[v.index()]),
        });
    }
    uniform
}

/// Which are not, without loads and coordinates.
pub(crate) fn computed(kernel: &Kernel) -> Vec<usize> {
    let uniform = uniform(kernel);
    let inside = |at: usize| !matches!(kernel.body[at].op, Op::Load { .. } | Op::Coord(_));
    (0..uniform.len()).filter(|&at| !uniform[at] && inside(at)).collect()
}

/// The branches of a body, by place; the longest are chosen first.
pub(crate) fn branches(kernel: &Kernel) -> Vec<Branch> {
    let computed = &computed(kernel)[..];
    let mut uses = vec![Vec::new(); kernel.body.len()];
    for (at, inst) in kernel.body.iter().enumerate() {
        inst.op.operands().for_each(|value| uses[value.index()].push(at));
    }
    let mut found: Vec<Branch> = Vec::new();
    let mut tried = Vec::new();
    for &at in computed {
        let Op::Select(condition, ..) = kernel.body[at].op else { continue };
        if tried.contains(&condition) {
            continue;
        }
        tried.push(condition);
        let sides = [true, false].map(|side| branch_of(kernel, computed, &uses, condition, side));
        found.extend(sides.into_iter().flatten());
    }
    found.sort_by_key(|branch| std::cmp::Reverse(branch.body.len()));
    let mut taken = vec![false; kernel.body.len()];
    found.retain(|branch| {
        let all = || branch.body.iter().chain(&branch.selects);
        let free = all().all(|&at| !taken[at]);
        if free {
            all().for_each(|&at| taken[at] = true);
        }
        free
    });
    found.sort_by_key(Branch::place);
    found
}

/// The instructions that only this side of the selects on a condition needs, if they are long and nothing
/// comes between the selects.
fn branch_of(
    kernel: &Kernel,
    computed: &[usize],
    uses: &[Vec<usize>],
    condition: Value,
    side: bool,
) -> Option<Branch> {
    let mut branch = Branch { condition, side, body: Vec::new(), selects: Vec::new() };
    let roots = kernel.roots();
    let is_select = |at: usize| matches!(kernel.body[at].op, Op::Select(c, ..) if c == condition);
    let mut inside = vec![false; kernel.body.len()];
    for &at in computed.iter().rev() {
        let value = Value(at as u32);
        let on_side = |&user: &usize| {
            inside[user]
                || is_select(user)
                    && branch.operand(kernel, user, true) == value
                    && branch.operand(kernel, user, false) != value
        };
        inside[at] = value != condition && !roots.contains(&value) && uses[at].iter().all(on_side);
    }
    let is_end =
        |&at: &usize| !inside[at] && is_select(at) && inside[branch.operand(kernel, at, true).index()];
    let selects: Vec<usize> = computed.iter().copied().filter(is_end).collect();
    branch.body = computed.iter().copied().filter(|&at| inside[at]).collect();
    let place = *selects.last()?;
    let in_order = selects.iter().flat_map(|&at| &uses[at]).all(|&user| user > place);
    branch.selects = selects;
    (branch.body.len() >= LONG && in_order).then_some(branch)
}
