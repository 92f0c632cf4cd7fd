//! CPU dispatch: one source of each loop, compiled for several instruction sets and chosen once per program;
//! and the ISA level of machine code.
//!
//! A loop is a type with an `#[inline(always)]` body; [`compiled`] inlines it into a function that enables
//! the instructions of a [`Level`]. No level changes a bit of a result: Rust never contracts, and fused
//! multiply-add is called by name.

use crate::cpu::x86::IsaLevel;

/// An instruction set the loops are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    /// What every CPU of the architecture has.
    Baseline,
    /// AVX2 with FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Machine code of AVX2 for the whole kernel where there can be, else its loops.
    #[cfg(target_arch = "x86_64")]
    Avx2Code,
    /// AVX-512 F, VL, BW and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Machine code for the whole kernel where there can be (it takes BMI2 beside AVX-512), else the loops of
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512Code,
}

impl Level {
    /// The best level this CPU has.
    pub(super) fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq");
            let code = is_x86_feature_detected!("bmi2");
            match (avx2, avx512, code) {
                (true, true, true) => return Level::Avx512Code,
                (true, true, false) => return Level::Avx512,
                (true, false, _) => return Level::Avx2Code,
                _ => {}
            }
        }
        Level::Baseline
    }

    /// The best level without machine code.
    pub(super) fn interpreter() -> Level {
        Level::detect().loops()
    }

    /// The same instructions without machine code.
    pub(super) fn loops(self) -> Level {
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2Code => Level::Avx2,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Code => Level::Avx512,
            level => level,
        }
    }

    /// The machine code that is written at this level.
    pub(super) fn code(self) -> Option<IsaLevel> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2Code => Some(IsaLevel::Avx2),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Code => Some(IsaLevel::Avx512),
            _ => None,
        }
    }

    /// The level that writes this machine code, if this CPU runs it.
    pub(super) fn of_code(code: IsaLevel) -> Option<Level> {
        #[cfg(target_arch = "x86_64")]
        let level = match code {
            IsaLevel::Avx2 => Level::Avx2Code,
            IsaLevel::Avx512 => Level::Avx512Code,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let level = Level::Baseline;
        code.is_available().then_some(level)
    }

    /// Every level this CPU has, the lowest first.
    #[cfg(test)]
    pub(super) fn available() -> Vec<Level> {
        #[cfg(target_arch = "x86_64")]
        let all = vec![Level::Baseline, Level::Avx2, Level::Avx2Code, Level::Avx512, Level::Avx512Code];
        #[cfg(not(target_arch = "x86_64"))]
        let all = vec![Level::Baseline];
        all.into_iter().filter(|&level| level <= Level::detect()).collect()
    }
}

/// A loop that can be compiled for any level.
pub(super) trait Loop {
    /// What it works on.
    type Args;
    /// The loop; implementations are `#[inline(always)]` so that they adopt their caller's instructions.
    ///
    /// # Safety
    /// The pointers in `args` are valid for the lanes it names.
    unsafe fn run(args: &Self::Args);
}

/// A loop compiled for one level. Calling it needs that level's instructions and valid `args`.
pub(super) type Compiled<A> = unsafe fn(&A);

/// The loop `L`, compiled for `level`.
pub(super) fn compiled<L: Loop>(level: Level) -> Compiled<L::Args> {
    match level.loops() {
        Level::Baseline => baseline::<L>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::<L>,
        #[cfg(target_arch = "x86_64")]
        _ => avx512::<L>,
    }
}

/// The loop `L`, compiled for the baseline and AVX2 only: for the many loops that wider registers would
/// hardly speed up, so that the crate compiles in half the time.
pub(super) fn compiled_narrow<L: Loop>(level: Level) -> Compiled<L::Args> {
    match level.loops() {
        Level::Baseline => baseline::<L>,
        #[cfg(target_arch = "x86_64")]
        _ => avx2::<L>,
    }
}

pub(super) unsafe fn baseline<L: Loop>(args: &L::Args) {
    // SAFETY: the caller's promise is `Loop::run`'s.
    unsafe { L::run(args) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn avx2<L: Loop>(args: &L::Args) {
    // SAFETY: the caller's promise is `Loop::run`'s.
    unsafe { L::run(args) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c")]
pub(super) unsafe fn avx512<L: Loop>(args: &L::Args) {
    // SAFETY: the caller's promise is `Loop::run`'s.
    unsafe { L::run(args) }
}
