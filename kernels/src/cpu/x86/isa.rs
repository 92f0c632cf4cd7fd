//! The two ISA levels that machine code is written for, and the registers of each.

/// An ISA level of x86-64 processors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum IsaLevel {
    /// AVX2 and FMA: VEX encodings, 16 registers of 32 bytes, masks in vectors.
    Avx2,
    /// AVX-512 F, VL, BW and DQ, and BMI2: EVEX encodings, 32 registers of 64 bytes, opmask registers.
    Avx512,
}

impl IsaLevel {
    /// The higher level of this CPU, if it has either.
    pub fn best() -> Option<IsaLevel> {
        [IsaLevel::Avx512, IsaLevel::Avx2].into_iter().find(|level| level.is_available())
    }

    /// Does this CPU run code of the level?
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            IsaLevel::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            IsaLevel::Avx512 => {
                IsaLevel::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("bmi2")
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Bytes of a vector register.
    pub(super) fn register_bytes(self) -> usize {
        match self {
            IsaLevel::Avx2 => 32,
            IsaLevel::Avx512 => 64,
        }
    }

    /// Vector registers that values can have. The last one of AVX2 holds masks and operands of partial
    /// blocks.
    pub(super) fn registers(self) -> usize {
        match self {
            IsaLevel::Avx2 => 15,
            IsaLevel::Avx512 => 32,
        }
    }
}
