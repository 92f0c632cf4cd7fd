//! The instructions of a program: the level of its loops, and of its machine code.

use super::loops::level::Level;
use super::x86::IsaLevel;

/// What a program is compiled to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Instructions {
    pub loops: Level,
    /// Machine code where there can be any; loops elsewhere.
    pub code: Option<IsaLevel>,
}

impl Instructions {
    /// The best of this CPU.
    pub(super) fn best() -> Instructions {
        IsaLevel::best().and_then(Instructions::of_code).unwrap_or_else(Instructions::loops)
    }

    /// The best loops of this CPU, and no machine code.
    pub(super) fn loops() -> Instructions {
        Instructions { loops: Level::best(), code: None }
    }

    /// Machine code of this level and loops of the same, if this CPU runs them.
    pub(super) fn of_code(code: IsaLevel) -> Option<Instructions> {
        #[cfg(target_arch = "x86_64")]
        let loops = match code {
            IsaLevel::Avx2 => Level::Avx2,
            IsaLevel::Avx512 => Level::Avx512,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let loops = Level::Baseline;
        let is_available = code.is_available() && loops <= Level::best();
        is_available.then_some(Instructions { loops, code: Some(code) })
    }

    /// All that this CPU runs: loops of each level, with machine code and without.
    #[cfg(test)]
    pub(super) fn available() -> Vec<Instructions> {
        #[cfg(target_arch = "x86_64")]
        let levels = [Level::Baseline, Level::Avx2, Level::Avx512];
        #[cfg(not(target_arch = "x86_64"))]
        let levels = [Level::Baseline];
        let loops = levels.into_iter().filter(|&loops| loops <= Level::best());
        let codes = [IsaLevel::Avx2, IsaLevel::Avx512].into_iter().filter_map(Instructions::of_code);
        loops.map(|loops| Instructions { loops, code: None }).chain(codes).collect()
    }
}
