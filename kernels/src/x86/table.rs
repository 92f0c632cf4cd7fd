//! The instructions, by what they do and the width of register they do it in. Knows no kernels.

use iced_x86::Code;

/// How the lanes of a value lie in a register: 16 or 8 of four bytes, 8 of eight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    /// A `zmm` of 4-byte lanes.
    Words,
    /// A `ymm` of 4-byte lanes, beside values of 8 bytes.
    HalfWords,
    /// A `zmm` of 8-byte lanes.
    Longs,
}

/// One operation in the order of [`Width`].
pub(super) type Row = [Code; 3];

/// The instruction of a row.
pub(super) fn at(row: &Row, width: Width) -> Code {
    match width {
        Width::Words => row[0],
        Width::HalfWords => row[1],
        Width::Longs => row[2],
    }
}

pub(super) const ADD: Row = [
    Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
];
pub(super) const SUB: Row = [
    Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
];
pub(super) const MUL: Row = [
    Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
];
pub(super) const DIV: Row = [
    Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
];
/// The second operand if either is NaN, or if they are zeros.
pub(super) const MIN: Row = [
    Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
    Code::EVEX_Vminps_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
];
/// As [`MIN`].
pub(super) const MAX: Row = [
    Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
    Code::EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
];
pub(super) const SQRT: Row = [
    Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
    Code::EVEX_Vsqrtps_ymm_k1z_ymmm256b32,
    Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
];
pub(super) const ROUND: Row = [
    Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
    Code::EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8,
    Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
];
/// `a = b * a + c`
pub(super) const FMA: Row = [
    Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
    Code::EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
];
pub(super) const XOR: Row = [
    Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const AND: Row = [
    Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const OR: Row = [
    Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpord_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const COMPARE: Row = [
    Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
    Code::EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8,
    Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
];
/// The second operand where the mask is set.
pub(super) const BLEND: Row = [
    Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vblendmps_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const IADD: Row = [
    Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const ISUB: Row = [
    Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const IMUL: Row = [
    Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const SMIN: Row = [
    Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const SMAX: Row = [
    Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const UMIN: Row = [
    Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpminud_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const UMAX: Row = [
    Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpmaxud_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const IABS: Row = [
    Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32,
    Code::EVEX_Vpabsd_ymm_k1z_ymmm256b32,
    Code::EVEX_Vpabsq_zmm_k1z_zmmm512b64,
];
pub(super) const SHL: Row = [
    Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpsllvd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const SHR: Row = [
    Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const SAR: Row = [
    Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpsravd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64,
];
pub(super) const SCOMPARE: Row = [
    Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
    Code::EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8,
    Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
];
pub(super) const UCOMPARE: Row = [
    Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
    Code::EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8,
    Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
];
/// Where the bits in common are not all 0.
pub(super) const TEST: Row = [
    Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32,
    Code::EVEX_Vptestmd_kr_k1_ymm_ymmm256b32,
    Code::EVEX_Vptestmq_kr_k1_zmm_zmmm512b64,
];
/// The lanes that the first operand says, of the second.
pub(super) const PERMUTE: Row = [
    Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64,
];
/// `a = ` the lanes that the second operand says, of `a` and behind them of the third.
pub(super) const PERMUTE2: Row = [
    Code::EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpermt2d_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpermt2q_zmm_k1z_zmm_zmmm512b64,
];
/// Also from register to register.
pub(super) const LOAD: Row = [
    Code::EVEX_Vmovups_zmm_k1z_zmmm512,
    Code::EVEX_Vmovups_ymm_k1z_ymmm256,
    Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
];
pub(super) const STORE: Row = [
    Code::EVEX_Vmovups_zmmm512_k1z_zmm,
    Code::EVEX_Vmovups_ymmm256_k1z_ymm,
    Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
];
/// Past the caches; to whole aligned registers only.
pub(super) const STREAM: Row =
    [Code::EVEX_Vmovntps_m512_zmm, Code::EVEX_Vmovntps_m256_ymm, Code::EVEX_Vmovntpd_m512_zmm];
/// One element of memory in every lane.
pub(super) const SPLAT: Row = [
    Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
    Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32,
    Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
];
/// A general register in every lane.
pub(super) const INDEX: Row = [
    Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
    Code::EVEX_Vpbroadcastd_ymm_k1z_r32,
    Code::EVEX_Vpbroadcastq_zmm_k1z_r64,
];
/// From the signed integer of the same width.
pub(super) const FROM_INT: Row = [
    Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
    Code::EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32,
    Code::EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er,
];
pub(super) const FROM_UINT: Row = [
    Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er,
    Code::EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32,
    Code::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er,
];
/// Truncates; the least integer where none is near.
pub(super) const TO_INT: Row = [
    Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae,
    Code::EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32,
    Code::EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae,
];
/// Truncates; the largest integer where none is near.
pub(super) const TO_UINT: Row = [
    Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae,
    Code::EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32,
    Code::EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae,
];
