//! CPU dispatch: one source of each loop, compiled for two instruction sets and chosen once per program. What
//! gains from AVX-512 is machine code.
//!
//! A loop is a type with an `#[inline(always)]` body; [`compiled`] inlines it into a function that enables
//! the instructions of a [`Level`]. No level changes a bit of a result: Rust never contracts, and fused
//! multiply-add is called by name.

/// An instruction set the loops are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::cpu) enum Level {
    /// Instructions that every CPU of the architecture has.
    Baseline,
    /// AVX2 with FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Level {
    /// The best level this CPU has.
    pub(in crate::cpu) fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
        {
            return Level::Avx2;
        }
        Level::Baseline
    }
}

/// A loop that can be compiled for any level.
pub(in crate::cpu) trait Loop {
    /// The operands and results of the loop.
    type Args;
    /// The loop; implementations are `#[inline(always)]` so that they adopt their caller's instructions.
    ///
    /// # Safety
    /// The pointers in `args` are valid for the lanes it names.
    unsafe fn run(args: &Self::Args);
}

/// A loop compiled for one level. Calling it needs that level's instructions and valid `args`.
pub(in crate::cpu) type Compiled<A> = unsafe fn(&A);

/// The loop `L`, compiled for `level`.
pub(in crate::cpu) fn compiled<L: Loop>(level: Level) -> Compiled<L::Args> {
    match level {
        Level::Baseline => baseline::<L>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::<L>,
    }
}

unsafe fn baseline<L: Loop>(args: &L::Args) {
    // SAFETY: the caller's promise is `Loop::run`'s.
    unsafe { L::run(args) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn avx2<L: Loop>(args: &L::Args) {
    // SAFETY: the caller's promise is `Loop::run`'s.
    unsafe { L::run(args) }
}
