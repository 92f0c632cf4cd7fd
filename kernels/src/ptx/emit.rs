//! A kernel as PTX: its text, and the grids of its launches.
//!
//! A grid's coordinates and the steps along its slots are 32-bit numbers; addresses are 64-bit. Regions
//! beyond that, or beyond what a grid may have of blocks, are cut into several grids.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use super::entries::{fold, mirrored, planes, pointwise, scan, streaming, transpose};
use super::launch::fold::MAX_INNER_FOLD;
use super::launch::pointwise::plan_batch;
use super::launch::{Facts, LaunchPlan, Limits, Module, Source, Span};
use super::schedule::{PlainLimits, Schedule};
use super::text::{Entry, LazyEntry, MAX_BLOCK_BYTES, PtxTarget};
use crate::ir::{Access, Form, Launch, Op, Param, View};
use crate::math;
use crate::verify::{LaunchError, Verified, verify};

/// A kernel that no module can be written for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "kernel {kernel} needs {bytes} bytes of launch parameters, at most {MAX_BLOCK_BYTES} can be passed; \
     split it into kernels of fewer arrays"
)]
pub struct PtxUnsupported {
    /// The kernel's name.
    pub kernel: String,
    /// Bytes its launches would pass.
    pub bytes: usize,
}

/// Writes a kernel as PTX.
///
/// # Errors
/// The kernel has so many parameters that a launch could not pass them.
pub fn emit(kernel: &Verified, target: &PtxTarget) -> Result<Module, PtxUnsupported> {
    emit_within(kernel, target, PlainLimits::DEFAULT)
}

/// Writes a kernel as PTX, with other limits of stencils as plain vectors.
///
/// # Errors
/// As [`emit`].
pub fn emit_within(
    kernel: &Verified,
    target: &PtxTarget,
    plain: PlainLimits,
) -> Result<Module, PtxUnsupported> {
    let (verified, centers) = centered(math::expand_fused(kernel));
    let kernel = verified.kernel();
    let schedule = Schedule::of(&verified, target, plain);
    let target = *target;
    let written = match &kernel.form {
        Form::Reduce { .. } => fold::entries(&verified, &target, schedule.folds),
        Form::Scan(form) => vec![scan::entry(&verified, &target, form)],
        Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => {
            vec![pointwise::entry(&verified, &target)]
        }
    };
    if let Some(bytes) = written.iter().map(|e| e.block.bytes()).find(|&bytes| bytes > MAX_BLOCK_BYTES) {
        return Err(PtxUnsupported { kernel: kernel.name.clone(), bytes });
    }
    let of = &Arc::new(verified.clone());
    let batched = pointwise::is_batched(&verified).then_some(());
    // Older GPUs have no copies that go on while a thread does.
    let streaming = schedule.streaming.clone().filter(|_| target.sm >= 80);
    let Schedule { vector, planes, transpose, mirrored, .. } = schedule.clone();
    let others = [
        vector.map(|plan| LazyEntry::new("vector", of, move |k| pointwise::vector(k, &target, &plan))),
        transpose.map(|turns| LazyEntry::new("transpose", of, move |k| transpose::entry(k, &target, turns))),
        mirrored.map(|n| LazyEntry::new("mirrored", of, move |k| mirrored::entry(k, &target, n))),
        batched.map(|()| LazyEntry::new("batched_copy", of, move |k| pointwise::batched_copy(k, &target))),
        planes.map(|plan| LazyEntry::new("planes", of, move |k| planes::entry(k, &target, &plan))),
        streaming.map(|plan| LazyEntry::new("streaming", of, move |k| streaming::entry(k, &target, &plan))),
    ];
    let entries = written.into_iter().map(LazyEntry::from).chain(others.into_iter().flatten()).collect();
    Ok(Module { target, entries, kernel: verified, centers, schedule, limits: Limits::DEVICE })
}

/// The kernel with the loads of each input that has several counted from their centre, and how far that is
/// from where they were counted from. A view may begin at any neighbour, such as the first that a formula
/// names, but rows are aligned where the centre is: along each dimension where most loads are, of several
/// such places the one in the middle. The engine lays out results by the same rule.
fn centered(verified: Verified) -> (Verified, Vec<Vec<i64>>) {
    let mut kernel = verified.kernel().clone();
    let mut centers = vec![vec![0; kernel.rank]; kernel.params.len()];
    if !matches!(kernel.form, Form::Elementwise { .. }) {
        return (verified, centers);
    }
    for (p, center) in centers.iter_mut().enumerate().filter(|(p, _)| kernel.params[*p].access == Access::In)
    {
        for (dim, center) in center.iter_mut().enumerate() {
            let loads = verified.footprint().loads().iter().filter(|load| load.param as usize == p);
            let offsets: Vec<i64> = loads.map(|load| i64::from(load.offsets[dim])).collect();
            if offsets.len() < 2 {
                continue;
            }
            let count = |offset: &i64| offsets.iter().filter(|other| *other == offset).count();
            let most = offsets.iter().map(count).max();
            let best: BTreeSet<i64> = offsets.iter().copied().filter(|at| Some(count(at)) == most).collect();
            *center = best.iter().nth(best.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        }
    }
    if centers.iter().flatten().all(|&center| center == 0) {
        return (verified, centers);
    }
    for inst in &mut kernel.body {
        if let Op::Load { param, offsets } = &mut inst.op {
            let center = &centers[*param as usize];
            offsets.iter_mut().zip(center).for_each(|(offset, &center)| *offset -= center as i32);
        }
    }
    let moved = verify(kernel).expect("a load may be anywhere");
    (moved, centers)
}

impl Module {
    /// The entry of a grid ([`Grid::entry`](super::Grid::entry)), by itself or with a table of launches.
    pub fn entry_of(&self, grid: usize) -> &Entry {
        &self.entries[grid % self.entries.len()]
    }

    /// The text of a grid's entry, for the driver to compile when it is first used.
    pub fn text(&self, grid: usize) -> String {
        let entry = self.entry_of(grid);
        let text = if grid < self.entries.len() { &entry.text } else { &self.table_text(entry) };
        self.head() + "\n" + text
    }

    /// The text of an entry that does nothing where the 64-bit word at an address is not 0, and where in its
    /// parameter that address is. `None` if the parameter has no room for it.
    pub fn guarded_text(&self, entry: usize) -> Option<(String, usize)> {
        const PARAMETER: &str = ".b8 launch[";
        let text = self.text(entry);
        let (before, rest) = text.split_once(PARAMETER)?;
        let (length, rest) = rest.split_once(']')?;
        let at = length.parse::<usize>().ok()?.next_multiple_of(8);
        // Declarations end with an empty line.
        let (declarations, code) = rest.split_once("\n\n")?;
        let guard = format!(
            "
    .reg .pred %is_halted;
    .reg .b64 %halt;

    ld.param.b64 %halt, [launch+{at}];
    ld.global.u64 %halt, [%halt];
    setp.ne.u64 %is_halted, %halt, 0;
    @%is_halted ret;
"
        );
        let text = format!("{before}{PARAMETER}{}]{declarations}{guard}{code}", at + 8);
        (at + 8 <= MAX_BLOCK_BYTES).then_some((text, at))
    }

    /// Bytes of the entries that are written.
    pub fn text_bytes(&self) -> usize {
        let written = self.entries.iter().filter_map(|entry| LazyLock::get(&entry.entry));
        written.map(|entry| entry.text.len()).sum()
    }

    /// All entries in one text, to be read.
    pub fn whole_text(&self) -> String {
        let fits = |entry: &&LazyEntry| entry.block.bytes() <= MAX_BLOCK_BYTES;
        self.entries.iter().filter(fits).fold(self.head(), |text, entry| text + "\n" + &entry.text)
    }

    fn head(&self) -> String {
        let (name, PtxTarget { sm }) = (&self.kernel.kernel().name, self.target);
        let version = self.target.version();
        format!("// {name}\n.version {version}\n.target sm_{sm}\n.address_size 64\n")
    }

    /// The entry of a kind, if the schedule offers it and its parameters can be passed. Writes it.
    pub(crate) fn entry(&self, kind: &str) -> Option<usize> {
        let at = self.entries.iter().position(|entry| entry.kind == kind)?;
        (self.entries[at].block.bytes() <= MAX_BLOCK_BYTES).then_some(at)
    }

    /// Whether grids can count the points of a launch.
    ///
    /// # Errors
    /// A folded dimension of more than 2^31 points lies within another one that does not merge with it, or
    /// the points of a scanned line are 2^31 bytes apart: coordinates and steps within a grid have 32 bits.
    pub fn check(&self, launch: &Launch) -> Result<(), LaunchError> {
        if let Form::Scan(form) = &self.kernel.kernel().form {
            return self.check_line(launch, form.axis);
        }
        if launch.points() as u64 <= MAX_INNER_FOLD {
            return Ok(());
        }
        let kernel = self.kernel.kernel();
        let memory = vec![Span { address: 0, bytes: 0 }; kernel.params.len()];
        let Some(points) = Source::new(self, launch, &memory).longest_inner_fold() else { return Ok(()) };
        let reason = format!(
            "expected at most {MAX_INNER_FOLD} points of a folded dimension within another one, given \
             {points}; reduce one dimension after the other"
        );
        Err(LaunchError { kernel: kernel.name.clone(), reason })
    }

    fn check_line(&self, launch: &Launch, axis: usize) -> Result<(), LaunchError> {
        let kernel = self.kernel.kernel();
        let fits = |(param, view): (&Param, &View)| {
            let bytes = view.strides[axis].checked_mul(param.dtype.size_bytes() as i64);
            bytes.is_some_and(|bytes| i32::try_from(bytes).is_ok())
        };
        if kernel.params.iter().zip(&launch.views).all(fits) && launch.extents[axis] <= i32::MAX as usize {
            return Ok(());
        }
        let reason = format!(
            "expected fewer than 2^31 points of a line, and bytes between two, given {} points; \
             scan a copy whose lines are closer in memory",
            launch.extents[axis]
        );
        Err(LaunchError { kernel: kernel.name.clone(), reason })
    }

    /// The grids that carry out `launch`; none if there is nothing to do. `launch` must have passed
    /// [`Verified::check`](crate::Verified::check) with this memory, and [`Module::check`].
    pub fn plan(&self, launch: &Launch, memory: &[Span], facts: Facts) -> LaunchPlan {
        let source = Source::new(self, launch, memory);
        match &source.kernel.form {
            Form::Reduce { .. } => source.reduction(facts),
            Form::Scan(form) => source.scan(form),
            Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => source.pointwise(facts),
        }
    }

    /// The grids, in any order, that carry out several launches of this kernel over boxes that have
    /// nothing to do with each other, each with its memory: one for as many as fit into a launch's
    /// parameters. `None` if the kernel is no copy or sum of two arrays, or a box is larger than a grid.
    /// Each must have passed [`Verified::check`](crate::Verified::check).
    pub fn plan_batch(&self, boxes: &[(&Launch, &[Span])]) -> Option<LaunchPlan> {
        plan_batch(self, boxes)
    }

    /// Pretends that grids are small, so that tests of a few thousand points cut regions too.
    #[doc(hidden)]
    pub fn shrink(&mut self) {
        self.limits = Limits::SMALL;
    }
}
