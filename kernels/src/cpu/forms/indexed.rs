//! The two forms that address memory by a computed index. An index outside the memory is skipped.

use crate::cpu::body::run::Run;
use crate::cpu::body::worker::{self, Chunk, Worker};
use crate::cpu::launch::{HostLaunch, Memory, coordinate_dims};
use crate::cpu::loops::copy::{Row, move_row};
use crate::cpu::loops::lanes::LanePointer;
use crate::cpu::loops::narrow::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::dtype::DType;
use crate::ir::Form;

/// `output[point] = source[index]`
pub(in crate::cpu) unsafe fn gather(task: &HostLaunch<'_>, source: usize, output: usize) {
    if task.launch.points() == 0 {
        return;
    }
    let run = pointwise(task, Some(output));
    let dtype = index_dtype(task);
    let size = run.params[source].element_bytes;
    let target = Target::new(task, source);
    // SAFETY: the caller's promise; `Target` keeps indices in bounds, the launch the points.
    unsafe {
        for_each_chunk(task, &run, |worker, chunk| {
            let index = worker.root(0);
            for_each_lane(chunk, |lane, row, k| {
                if let Some(from) = target.element(index, dtype, lane) {
                    let to = worker.address(output, row, chunk.start + k);
                    move_row(Row { ptr: to, stride_bytes: 0 }, Row { ptr: from, stride_bytes: 0 }, 1, size);
                }
            });
        });
    }
}

/// `output[index] = value`, or `+=`.
pub(in crate::cpu) unsafe fn scatter(task: &HostLaunch<'_>, output: usize, add: bool) {
    if task.launch.points() == 0 {
        return;
    }
    let run = pointwise(task, None);
    let dtype = index_dtype(task);
    let size = run.params[output].element_bytes;
    let element = task.kernel.params[output].dtype;
    let target = Target::new(task, output);
    // SAFETY: the caller's promise, that the indices are distinct included; `Target` keeps them in bounds.
    unsafe {
        for_each_chunk(task, &run, |worker, chunk| {
            let (index, value) = (worker.root(0), worker.root(1));
            for_each_lane(chunk, |lane, _, _| {
                if let Some(to) = target.element(index, dtype, lane) {
                    let from = value.at(lane);
                    if add {
                        add_element(element, to, from);
                    } else {
                        move_row(
                            Row { ptr: to, stride_bytes: 0 },
                            Row { ptr: from, stride_bytes: 0 },
                            1,
                            size,
                        );
                    }
                }
            });
        });
    }
}

/// A run over the launch's points, ordered for parameter `param`.
fn pointwise<'r>(task: &HostLaunch<'r>, param: Option<usize>) -> Run<'r> {
    Run::new(task, task.ordered(param, &coordinate_dims(task.kernel)), false)
}

fn index_dtype(task: &HostLaunch<'_>) -> DType {
    match task.kernel.form {
        Form::Gather { index, .. } | Form::Scatter { index, .. } => task.kernel.body[index.index()].dtype,
        Form::Elementwise { .. } | Form::Reduce { .. } | Form::Scan(_) => {
            unreachable!("only indexed forms come here")
        }
    }
}

/// Computes the body on every chunk of the region and calls `finish` after each.
unsafe fn for_each_chunk(
    task: &HostLaunch<'_>,
    run: &Run<'_>,
    finish: impl Fn(&mut Worker<'_>, Chunk) + Sync,
) {
    worker::for_each_tile(task, run, |worker, tile| {
        // SAFETY: the caller's promise; a tile lies in the region.
        unsafe {
            worker::for_each_chunk(run, worker, tile, |worker, chunk| {
                worker.eval(chunk);
                finish(worker, chunk);
            });
        }
    });
}

/// Calls `f(lane, row, lane in row)` for each lane of a chunk.
fn for_each_lane(chunk: Chunk, mut f: impl FnMut(usize, usize, usize)) {
    for row in 0..chunk.rows {
        for k in 0..chunk.len {
            f(row * chunk.len + k, row, k);
        }
    }
}

/// Memory addressed by index, from its view's offset to its end.
struct Target {
    memory: Memory,
    offset: i64,
    size: usize,
}

// SAFETY: only addresses are computed here; their users prove them valid.
unsafe impl Sync for Target {}

impl Target {
    fn new(task: &HostLaunch<'_>, param: usize) -> Target {
        let size = task.kernel.params[param].dtype.size_bytes();
        Target { memory: task.memory[param], offset: task.launch.views[param].offset, size }
    }

    /// The element that lane `lane` of `index` names, if there is one.
    ///
    /// # Safety
    /// `index` holds lanes of `dtype`, at least `lane + 1` of them unless it is splatted.
    unsafe fn element(&self, index: LanePointer, dtype: DType, lane: usize) -> Option<*mut u8> {
        let at = index.at(lane);
        // SAFETY: the caller's promise.
        let index = unsafe {
            match dtype {
                DType::I32 => i64::from(at.cast::<i32>().read()),
                DType::U32 => i64::from(at.cast::<u32>().read()),
                DType::U64 => i64::try_from(at.cast::<u64>().read()).ok()?,
                _ => at.cast::<i64>().read(),
            }
        };
        let element = usize::try_from(index).ok()?.checked_add(usize::try_from(self.offset).ok()?)?;
        (element < self.memory.len).then(|| self.memory.ptr.wrapping_add(element * self.size))
    }
}

/// `*to += *from`; `from` is a lane, `to` memory.
unsafe fn add_element(dtype: DType, to: *mut u8, from: *const u8) {
    macro_rules! add {
        ($kind:ident, $sum:expr) => {{
            let sum: fn($kind, $kind) -> $kind = $sum;
            let (to, from) = (to.cast::<$kind>(), from.cast::<$kind>());
            to.write_unaligned(sum(to.read_unaligned(), from.read_unaligned()));
        }};
    }
    // SAFETY: both point at one element, in memory form and in lane form.
    unsafe {
        match dtype {
            DType::Bool => unreachable!("a verified kernel does not add bools"),
            DType::I8 | DType::U8 => add!(u8, u8::wrapping_add),
            DType::I16 | DType::U16 => add!(u16, u16::wrapping_add),
            DType::I32 | DType::U32 => add!(u32, u32::wrapping_add),
            DType::I64 | DType::U64 => add!(u64, u64::wrapping_add),
            DType::F32 => add!(f32, |a, b| a + b),
            DType::F64 => add!(f64, |a, b| a + b),
            DType::F16 | DType::BF16 => {
                let (to, from) = (to.cast::<u16>(), from.cast::<f32>().read_unaligned());
                let old = to.read_unaligned();
                to.write_unaligned(match dtype {
                    DType::F16 => f32_to_f16(f16_to_f32(old) + from),
                    _ => f32_to_bf16(bf16_to_f32(old) + from),
                });
            }
        }
    }
}
