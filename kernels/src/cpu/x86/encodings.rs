//! The encodings of each operation by lane layout and ISA level. Instruction selection names operations by
//! these constants.

use iced_x86::Code;

use super::target::IsaLevel;

/// How the lanes of a value lie in a register: as many as a register has, or half of
/// them. Named after 4 and 8 bytes; `zmm` stands for the registers of the level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneLayout {
    /// A `zmm` of 4-byte lanes.
    Words,
    /// A `ymm` of 4-byte lanes, beside values of 8 bytes.
    HalfWords,
    /// A `zmm` of 8-byte lanes.
    Longs,
}

/// The encodings of one operation, in the order of [`LaneLayout`]. `Code::INVALID` stands where a level has
/// no such instruction: `sequences` has what replaces it, or a kernel that needs it has no code at that
/// level.
pub(super) struct Encodings {
    pub evex: [Code; 3],
    vex: [Code; 3],
}

const NO_VEX: [Code; 3] = [Code::INVALID; 3];

const fn vex_only(vex: [Code; 3]) -> Encodings {
    Encodings { evex: [Code::INVALID; 3], vex }
}

/// The instruction of an operation.
pub(super) fn at(forms: &Encodings, width: LaneLayout, level: IsaLevel) -> Code {
    let codes = match level {
        IsaLevel::Avx512 => &forms.evex,
        IsaLevel::Avx2 => &forms.vex,
    };
    match width {
        LaneLayout::Words => codes[0],
        LaneLayout::HalfWords => codes[1],
        LaneLayout::Longs => codes[2],
    }
}

pub(super) const ADD: Encodings = Encodings {
    evex: [
        Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    vex: [
        Code::VEX_Vaddps_ymm_ymm_ymmm256,
        Code::VEX_Vaddps_xmm_xmm_xmmm128,
        Code::VEX_Vaddpd_ymm_ymm_ymmm256,
    ],
};
pub(super) const SUB: Encodings = Encodings {
    evex: [
        Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    vex: [
        Code::VEX_Vsubps_ymm_ymm_ymmm256,
        Code::VEX_Vsubps_xmm_xmm_xmmm128,
        Code::VEX_Vsubpd_ymm_ymm_ymmm256,
    ],
};
pub(super) const MUL: Encodings = Encodings {
    evex: [
        Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    vex: [
        Code::VEX_Vmulps_ymm_ymm_ymmm256,
        Code::VEX_Vmulps_xmm_xmm_xmmm128,
        Code::VEX_Vmulpd_ymm_ymm_ymmm256,
    ],
};
pub(super) const DIV: Encodings = Encodings {
    evex: [
        Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    vex: [
        Code::VEX_Vdivps_ymm_ymm_ymmm256,
        Code::VEX_Vdivps_xmm_xmm_xmmm128,
        Code::VEX_Vdivpd_ymm_ymm_ymmm256,
    ],
};
/// The second operand if either is NaN, or if they are zeros.
pub(super) const MIN: Encodings = Encodings {
    evex: [
        Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
        Code::EVEX_Vminps_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
    ],
    vex: [
        Code::VEX_Vminps_ymm_ymm_ymmm256,
        Code::VEX_Vminps_xmm_xmm_xmmm128,
        Code::VEX_Vminpd_ymm_ymm_ymmm256,
    ],
};
/// As [`MIN`].
pub(super) const MAX: Encodings = Encodings {
    evex: [
        Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
        Code::EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
    ],
    vex: [
        Code::VEX_Vmaxps_ymm_ymm_ymmm256,
        Code::VEX_Vmaxps_xmm_xmm_xmmm128,
        Code::VEX_Vmaxpd_ymm_ymm_ymmm256,
    ],
};
pub(super) const SQRT: Encodings = Encodings {
    evex: [
        Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
        Code::EVEX_Vsqrtps_ymm_k1z_ymmm256b32,
        Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
    ],
    vex: [Code::VEX_Vsqrtps_ymm_ymmm256, Code::VEX_Vsqrtps_xmm_xmmm128, Code::VEX_Vsqrtpd_ymm_ymmm256],
};
pub(super) const ROUND: Encodings = Encodings {
    evex: [
        Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
        Code::EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8,
        Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
    ],
    vex: [
        Code::VEX_Vroundps_ymm_ymmm256_imm8,
        Code::VEX_Vroundps_xmm_xmmm128_imm8,
        Code::VEX_Vroundpd_ymm_ymmm256_imm8,
    ],
};
/// `a = b * a + c`
pub(super) const FMA: Encodings = Encodings {
    evex: [
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    vex: [
        Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213ps_xmm_xmm_xmmm128,
        Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
    ],
};
pub(super) const XOR: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpxor_ymm_ymm_ymmm256, Code::VEX_Vpxor_xmm_xmm_xmmm128, Code::VEX_Vpxor_ymm_ymm_ymmm256],
};
pub(super) const AND: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpand_ymm_ymm_ymmm256, Code::VEX_Vpand_xmm_xmm_xmmm128, Code::VEX_Vpand_ymm_ymm_ymmm256],
};
pub(super) const OR: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpord_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpor_ymm_ymm_ymmm256, Code::VEX_Vpor_xmm_xmm_xmmm128, Code::VEX_Vpor_ymm_ymm_ymmm256],
};
pub(super) const COMPARE: Encodings = Encodings {
    evex: [
        Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
        Code::EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8,
        Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
    ],
    vex: [
        Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
        Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8,
        Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
    ],
};
/// The second operand where the mask is set.
pub(super) const BLEND: Encodings = Encodings {
    evex: [
        Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vblendmps_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [
        Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
        Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
        Code::VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
    ],
};
pub(super) const IADD: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [
        Code::VEX_Vpaddd_ymm_ymm_ymmm256,
        Code::VEX_Vpaddd_xmm_xmm_xmmm128,
        Code::VEX_Vpaddq_ymm_ymm_ymmm256,
    ],
};
pub(super) const ISUB: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [
        Code::VEX_Vpsubd_ymm_ymm_ymmm256,
        Code::VEX_Vpsubd_xmm_xmm_xmmm128,
        Code::VEX_Vpsubq_ymm_ymm_ymmm256,
    ],
};
pub(super) const IMUL: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpmulld_ymm_ymm_ymmm256, Code::VEX_Vpmulld_xmm_xmm_xmmm128, Code::INVALID],
};
pub(super) const SMIN: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpminsd_ymm_ymm_ymmm256, Code::VEX_Vpminsd_xmm_xmm_xmmm128, Code::INVALID],
};
pub(super) const SMAX: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpmaxsd_ymm_ymm_ymmm256, Code::VEX_Vpmaxsd_xmm_xmm_xmmm128, Code::INVALID],
};
pub(super) const UMIN: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpminud_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpminud_ymm_ymm_ymmm256, Code::VEX_Vpminud_xmm_xmm_xmmm128, Code::INVALID],
};
pub(super) const UMAX: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpmaxud_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpmaxud_ymm_ymm_ymmm256, Code::VEX_Vpmaxud_xmm_xmm_xmmm128, Code::INVALID],
};
pub(super) const IABS: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32,
        Code::EVEX_Vpabsd_ymm_k1z_ymmm256b32,
        Code::EVEX_Vpabsq_zmm_k1z_zmmm512b64,
    ],
    vex: [Code::VEX_Vpabsd_ymm_ymmm256, Code::VEX_Vpabsd_xmm_xmmm128, Code::INVALID],
};
pub(super) const SHL: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsllvd_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [
        Code::VEX_Vpsllvd_ymm_ymm_ymmm256,
        Code::VEX_Vpsllvd_xmm_xmm_xmmm128,
        Code::VEX_Vpsllvq_ymm_ymm_ymmm256,
    ],
};
pub(super) const SHR: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [
        Code::VEX_Vpsrlvd_ymm_ymm_ymmm256,
        Code::VEX_Vpsrlvd_xmm_xmm_xmmm128,
        Code::VEX_Vpsrlvq_ymm_ymm_ymmm256,
    ],
};
pub(super) const SAR: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsravd_ymm_k1z_ymm_ymmm256b32,
        Code::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64,
    ],
    vex: [Code::VEX_Vpsravd_ymm_ymm_ymmm256, Code::VEX_Vpsravd_xmm_xmm_xmmm128, Code::INVALID],
};
pub(super) const SCOMPARE: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
        Code::EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8,
        Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
    ],
    vex: NO_VEX,
};
pub(super) const UCOMPARE: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
        Code::EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8,
        Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
    ],
    vex: NO_VEX,
};
/// Where the bits in common are not all 0.
pub(super) const TEST: Encodings = Encodings {
    evex: [
        Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32,
        Code::EVEX_Vptestmd_kr_k1_ymm_ymmm256b32,
        Code::EVEX_Vptestmq_kr_k1_zmm_zmmm512b64,
    ],
    vex: NO_VEX,
};
/// Also from register to register.
pub(super) const LOAD: Encodings = Encodings {
    evex: [
        Code::EVEX_Vmovups_zmm_k1z_zmmm512,
        Code::EVEX_Vmovups_ymm_k1z_ymmm256,
        Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
    ],
    vex: [Code::VEX_Vmovups_ymm_ymmm256, Code::VEX_Vmovups_xmm_xmmm128, Code::VEX_Vmovupd_ymm_ymmm256],
};
pub(super) const STORE: Encodings = Encodings {
    evex: [
        Code::EVEX_Vmovups_zmmm512_k1z_zmm,
        Code::EVEX_Vmovups_ymmm256_k1z_ymm,
        Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
    ],
    vex: [Code::VEX_Vmovups_ymmm256_ymm, Code::VEX_Vmovups_xmmm128_xmm, Code::VEX_Vmovupd_ymmm256_ymm],
};
/// Non-temporal; to whole aligned registers only.
pub(super) const NON_TEMPORAL_STORE: Encodings = Encodings {
    evex: [Code::EVEX_Vmovntps_m512_zmm, Code::EVEX_Vmovntps_m256_ymm, Code::EVEX_Vmovntpd_m512_zmm],
    vex: [Code::VEX_Vmovntps_m256_ymm, Code::VEX_Vmovntps_m128_xmm, Code::VEX_Vmovntpd_m256_ymm],
};
/// One element of memory in every lane.
pub(super) const BROADCAST: Encodings = Encodings {
    evex: [
        Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32,
        Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
    ],
    vex: [Code::VEX_Vbroadcastss_ymm_m32, Code::VEX_Vbroadcastss_xmm_m32, Code::VEX_Vbroadcastsd_ymm_m64],
};
/// Two lanes of the first operand and two of the second, of 16 bytes each.
pub(super) const SHUFFLE: Encodings = Encodings {
    evex: [
        Code::EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8,
        Code::EVEX_Vshufps_ymm_k1z_ymm_ymmm256b32_imm8,
        Code::EVEX_Vshufpd_zmm_k1z_zmm_zmmm512b64_imm8,
    ],
    vex: [
        Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8,
        Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8,
        Code::VEX_Vshufpd_ymm_ymm_ymmm256_imm8,
    ],
};
/// Half of the 16-byte parts of the first operand and half of those of the second.
pub(super) const SHUFFLE_QUARTERS: Encodings = Encodings {
    evex: [
        Code::EVEX_Vshuff32x4_zmm_k1z_zmm_zmmm512b32_imm8,
        Code::EVEX_Vshuff32x4_ymm_k1z_ymm_ymmm256b32_imm8,
        Code::EVEX_Vshuff64x2_zmm_k1z_zmm_zmmm512b64_imm8,
    ],
    vex: [
        Code::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8,
        Code::INVALID,
        Code::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8,
    ],
};
/// A general register in every lane.
pub(super) const INDEX: Encodings = Encodings {
    evex: [
        Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
        Code::EVEX_Vpbroadcastd_ymm_k1z_r32,
        Code::EVEX_Vpbroadcastq_zmm_k1z_r64,
    ],
    vex: [Code::VEX_Vmovd_xmm_rm32, Code::VEX_Vmovd_xmm_rm32, Code::VEX_Vmovq_xmm_rm64],
};
/// From the signed integer of the same width.
pub(super) const FROM_INT: Encodings = Encodings {
    evex: [
        Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
        Code::EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32,
        Code::EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er,
    ],
    vex: [Code::VEX_Vcvtdq2ps_ymm_ymmm256, Code::VEX_Vcvtdq2ps_xmm_xmmm128, Code::INVALID],
};
pub(super) const FROM_UINT: Encodings = Encodings {
    evex: [
        Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er,
        Code::EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32,
        Code::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er,
    ],
    vex: NO_VEX,
};
/// Truncates; the least integer where none is near.
pub(super) const TO_INT: Encodings = Encodings {
    evex: [
        Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae,
        Code::EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32,
        Code::EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae,
    ],
    vex: [Code::VEX_Vcvttps2dq_ymm_ymmm256, Code::VEX_Vcvttps2dq_xmm_xmmm128, Code::INVALID],
};
/// Truncates; the largest integer where none is near.
pub(super) const TO_UINT: Encodings = Encodings {
    evex: [
        Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae,
        Code::EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32,
        Code::EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae,
    ],
    vex: NO_VEX,
};

/// The low 32 bits of each 8-byte lane, multiplied as unsigned numbers.
pub(super) const MUL_LOW_HALVES: Encodings =
    vex_only([Code::INVALID, Code::INVALID, Code::VEX_Vpmuludq_ymm_ymm_ymmm256]);
/// All bits of a lane where integers are equal.
pub(super) const EQUAL: Encodings = vex_only([
    Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256,
]);
/// All bits of a lane where the first signed integer is greater.
pub(super) const GREATER: Encodings = vex_only([
    Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256,
    Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128,
    Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256,
]);
/// The second operand's bits that the first has not.
pub(super) const AND_NOT: Encodings = vex_only([
    Code::VEX_Vpandn_ymm_ymm_ymmm256,
    Code::VEX_Vpandn_xmm_xmm_xmmm128,
    Code::VEX_Vpandn_ymm_ymm_ymmm256,
]);
/// The first lane in every lane.
pub(super) const BROADCAST_LANE: Encodings = vex_only([
    Code::VEX_Vpbroadcastd_ymm_xmmm32,
    Code::VEX_Vpbroadcastd_xmm_xmmm32,
    Code::VEX_Vpbroadcastq_ymm_xmmm64,
]);
/// Bytes of memory, widened to unsigned lanes.
pub(super) const FROM_BYTES: Encodings =
    vex_only([Code::VEX_Vpmovzxbd_ymm_xmmm64, Code::INVALID, Code::VEX_Vpmovzxbq_ymm_xmmm32]);
/// Reads the lanes of memory whose mask is set; 0 elsewhere.
pub(super) const MASKED_LOAD: Encodings = vex_only([
    Code::VEX_Vmaskmovps_ymm_ymm_m256,
    Code::VEX_Vmaskmovps_xmm_xmm_m128,
    Code::VEX_Vmaskmovpd_ymm_ymm_m256,
]);
/// Writes the lanes of memory whose mask is set.
pub(super) const MASKED_STORE: Encodings = vex_only([
    Code::VEX_Vmaskmovps_m256_ymm_ymm,
    Code::VEX_Vmaskmovps_m128_xmm_xmm,
    Code::VEX_Vmaskmovpd_m256_ymm_ymm,
]);
