//! The encodings of each operation by lane layout and ISA level. Instruction selection names operations by
//! these constants.

use iced_x86::Code;

use super::target::IsaLevel;

/// The layout of the lanes of a value in a register: as many as a register has, or half of
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

/// A row per operation: the AVX-512 encodings, then those of AVX2.
macro_rules! encodings {
    ($($(#[$doc:meta])* $name:ident: $($evex:ident),*; $($vex:ident),*;)*) => {
        $($(#[$doc])* pub(super) const $name: Encodings =
            Encodings { evex: [$(Code::$evex),*], vex: [$(Code::$vex),*] };)*
    };
}

encodings! {
    ADD:
        EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er;
        VEX_Vaddps_ymm_ymm_ymmm256, VEX_Vaddps_xmm_xmm_xmmm128, VEX_Vaddpd_ymm_ymm_ymmm256;
    SUB:
        EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er;
        VEX_Vsubps_ymm_ymm_ymmm256, VEX_Vsubps_xmm_xmm_xmmm128, VEX_Vsubpd_ymm_ymm_ymmm256;
    MUL:
        EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er;
        VEX_Vmulps_ymm_ymm_ymmm256, VEX_Vmulps_xmm_xmm_xmmm128, VEX_Vmulpd_ymm_ymm_ymmm256;
    DIV:
        EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
        VEX_Vdivps_ymm_ymm_ymmm256, VEX_Vdivps_xmm_xmm_xmmm128, VEX_Vdivpd_ymm_ymm_ymmm256;
    /// The second operand if either is NaN, or if they are zeros.
    MIN:
        EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, EVEX_Vminps_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae;
        VEX_Vminps_ymm_ymm_ymmm256, VEX_Vminps_xmm_xmm_xmmm128, VEX_Vminpd_ymm_ymm_ymmm256;
    /// As [`MIN`].
    MAX:
        EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae;
        VEX_Vmaxps_ymm_ymm_ymmm256, VEX_Vmaxps_xmm_xmm_xmmm128, VEX_Vmaxpd_ymm_ymm_ymmm256;
    SQRT:
        EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, EVEX_Vsqrtps_ymm_k1z_ymmm256b32,
        EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er;
        VEX_Vsqrtps_ymm_ymmm256, VEX_Vsqrtps_xmm_xmmm128, VEX_Vsqrtpd_ymm_ymmm256;
    ROUND:
        EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae, EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8,
        EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
        VEX_Vroundps_ymm_ymmm256_imm8, VEX_Vroundps_xmm_xmmm128_imm8, VEX_Vroundpd_ymm_ymmm256_imm8;
    /// `a = b * a + c`
    FMA:
        EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er, EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
        VEX_Vfmadd213ps_ymm_ymm_ymmm256, VEX_Vfmadd213ps_xmm_xmm_xmmm128, VEX_Vfmadd213pd_ymm_ymm_ymmm256;
    XOR:
        EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpxor_ymm_ymm_ymmm256, VEX_Vpxor_xmm_xmm_xmmm128, VEX_Vpxor_ymm_ymm_ymmm256;
    AND:
        EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpand_ymm_ymm_ymmm256, VEX_Vpand_xmm_xmm_xmmm128, VEX_Vpand_ymm_ymm_ymmm256;
    OR:
        EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, EVEX_Vpord_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vporq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpor_ymm_ymm_ymmm256, VEX_Vpor_xmm_xmm_xmmm128, VEX_Vpor_ymm_ymm_ymmm256;
    COMPARE:
        EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8,
        EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
        VEX_Vcmpps_ymm_ymm_ymmm256_imm8, VEX_Vcmpps_xmm_xmm_xmmm128_imm8, VEX_Vcmppd_ymm_ymm_ymmm256_imm8;
    /// The second operand where the mask is set.
    BLEND:
        EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, EVEX_Vblendmps_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64;
        VEX_Vblendvps_ymm_ymm_ymmm256_ymm, VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
        VEX_Vblendvpd_ymm_ymm_ymmm256_ymm;
    IADD:
        EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpaddd_ymm_ymm_ymmm256, VEX_Vpaddd_xmm_xmm_xmmm128, VEX_Vpaddq_ymm_ymm_ymmm256;
    ISUB:
        EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpsubd_ymm_ymm_ymmm256, VEX_Vpsubd_xmm_xmm_xmmm128, VEX_Vpsubq_ymm_ymm_ymmm256;
    IMUL:
        EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32, EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpmulld_ymm_ymm_ymmm256, VEX_Vpmulld_xmm_xmm_xmmm128, INVALID;
    SMIN:
        EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpminsd_ymm_ymm_ymmm256, VEX_Vpminsd_xmm_xmm_xmmm128, INVALID;
    SMAX:
        EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpmaxsd_ymm_ymm_ymmm256, VEX_Vpmaxsd_xmm_xmm_xmmm128, INVALID;
    UMIN:
        EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, EVEX_Vpminud_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpminud_ymm_ymm_ymmm256, VEX_Vpminud_xmm_xmm_xmmm128, INVALID;
    UMAX:
        EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32, EVEX_Vpmaxud_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpmaxud_ymm_ymm_ymmm256, VEX_Vpmaxud_xmm_xmm_xmmm128, INVALID;
    IABS:
        EVEX_Vpabsd_zmm_k1z_zmmm512b32, EVEX_Vpabsd_ymm_k1z_ymmm256b32, EVEX_Vpabsq_zmm_k1z_zmmm512b64;
        VEX_Vpabsd_ymm_ymmm256, VEX_Vpabsd_xmm_xmmm128, INVALID;
    SHL:
        EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpsllvd_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpsllvd_ymm_ymm_ymmm256, VEX_Vpsllvd_xmm_xmm_xmmm128, VEX_Vpsllvq_ymm_ymm_ymmm256;
    SHR:
        EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpsrlvd_ymm_ymm_ymmm256, VEX_Vpsrlvd_xmm_xmm_xmmm128, VEX_Vpsrlvq_ymm_ymm_ymmm256;
    SAR:
        EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32, EVEX_Vpsravd_ymm_k1z_ymm_ymmm256b32,
        EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64;
        VEX_Vpsravd_ymm_ymm_ymmm256, VEX_Vpsravd_xmm_xmm_xmmm128, INVALID;
    SCOMPARE:
        EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8,
        EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8;
        INVALID, INVALID, INVALID;
    UCOMPARE:
        EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8,
        EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8;
        INVALID, INVALID, INVALID;
    /// Lanes with a common bit that is set.
    TEST:
        EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, EVEX_Vptestmd_kr_k1_ymm_ymmm256b32,
        EVEX_Vptestmq_kr_k1_zmm_zmmm512b64;
        INVALID, INVALID, INVALID;
    /// Also from register to register.
    LOAD:
        EVEX_Vmovups_zmm_k1z_zmmm512, EVEX_Vmovups_ymm_k1z_ymmm256, EVEX_Vmovupd_zmm_k1z_zmmm512;
        VEX_Vmovups_ymm_ymmm256, VEX_Vmovups_xmm_xmmm128, VEX_Vmovupd_ymm_ymmm256;
    STORE:
        EVEX_Vmovups_zmmm512_k1z_zmm, EVEX_Vmovups_ymmm256_k1z_ymm, EVEX_Vmovupd_zmmm512_k1z_zmm;
        VEX_Vmovups_ymmm256_ymm, VEX_Vmovups_xmmm128_xmm, VEX_Vmovupd_ymmm256_ymm;
    /// Non-temporal; to whole aligned registers only.
    NON_TEMPORAL_STORE:
        EVEX_Vmovntps_m512_zmm, EVEX_Vmovntps_m256_ymm, EVEX_Vmovntpd_m512_zmm;
        VEX_Vmovntps_m256_ymm, VEX_Vmovntps_m128_xmm, VEX_Vmovntpd_m256_ymm;
    /// One element of memory in every lane.
    BROADCAST:
        EVEX_Vbroadcastss_zmm_k1z_xmmm32, EVEX_Vbroadcastss_ymm_k1z_xmmm32, EVEX_Vbroadcastsd_zmm_k1z_xmmm64;
        VEX_Vbroadcastss_ymm_m32, VEX_Vbroadcastss_xmm_m32, VEX_Vbroadcastsd_ymm_m64;
    /// Two lanes of the first operand and two of the second, of 16 bytes each.
    SHUFFLE:
        EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8, EVEX_Vshufps_ymm_k1z_ymm_ymmm256b32_imm8,
        EVEX_Vshufpd_zmm_k1z_zmm_zmmm512b64_imm8;
        VEX_Vshufps_ymm_ymm_ymmm256_imm8, VEX_Vshufps_xmm_xmm_xmmm128_imm8, VEX_Vshufpd_ymm_ymm_ymmm256_imm8;
    /// Half of the 16-byte parts of the first operand and half of those of the second.
    SHUFFLE_QUARTERS:
        EVEX_Vshuff32x4_zmm_k1z_zmm_zmmm512b32_imm8, EVEX_Vshuff32x4_ymm_k1z_ymm_ymmm256b32_imm8,
        EVEX_Vshuff64x2_zmm_k1z_zmm_zmmm512b64_imm8;
        VEX_Vperm2f128_ymm_ymm_ymmm256_imm8, INVALID, VEX_Vperm2f128_ymm_ymm_ymmm256_imm8;
    /// A general register in every lane.
    INDEX:
        EVEX_Vpbroadcastd_zmm_k1z_r32, EVEX_Vpbroadcastd_ymm_k1z_r32, EVEX_Vpbroadcastq_zmm_k1z_r64;
        VEX_Vmovd_xmm_rm32, VEX_Vmovd_xmm_rm32, VEX_Vmovq_xmm_rm64;
    /// From the signed integer of the same width.
    FROM_INT:
        EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er, EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32,
        EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er;
        VEX_Vcvtdq2ps_ymm_ymmm256, VEX_Vcvtdq2ps_xmm_xmmm128, INVALID;
    FROM_UINT:
        EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32,
        EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er;
        INVALID, INVALID, INVALID;
    /// Truncates; the least integer where none is near.
    TO_INT:
        EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae, EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32,
        EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae;
        VEX_Vcvttps2dq_ymm_ymmm256, VEX_Vcvttps2dq_xmm_xmmm128, INVALID;
    /// Truncates; the largest integer where none is near.
    TO_UINT:
        EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32,
        EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae;
        INVALID, INVALID, INVALID;
    /// The low 32 bits of each 8-byte lane, multiplied as unsigned numbers.
    MUL_LOW_HALVES:
        INVALID, INVALID, INVALID;
        INVALID, INVALID, VEX_Vpmuludq_ymm_ymm_ymmm256;
    /// All bits of a lane where integers are equal.
    EQUAL:
        INVALID, INVALID, INVALID;
        VEX_Vpcmpeqd_ymm_ymm_ymmm256, VEX_Vpcmpeqd_xmm_xmm_xmmm128, VEX_Vpcmpeqq_ymm_ymm_ymmm256;
    /// All bits of a lane where the first signed integer is greater.
    GREATER:
        INVALID, INVALID, INVALID;
        VEX_Vpcmpgtd_ymm_ymm_ymmm256, VEX_Vpcmpgtd_xmm_xmm_xmmm128, VEX_Vpcmpgtq_ymm_ymm_ymmm256;
    /// The second operand's bits that the first has not.
    AND_NOT:
        INVALID, INVALID, INVALID;
        VEX_Vpandn_ymm_ymm_ymmm256, VEX_Vpandn_xmm_xmm_xmmm128, VEX_Vpandn_ymm_ymm_ymmm256;
    /// The first lane in every lane.
    BROADCAST_LANE:
        INVALID, INVALID, INVALID;
        VEX_Vpbroadcastd_ymm_xmmm32, VEX_Vpbroadcastd_xmm_xmmm32, VEX_Vpbroadcastq_ymm_xmmm64;
    /// Bytes of memory, widened to unsigned lanes.
    FROM_BYTES:
        INVALID, INVALID, INVALID;
        VEX_Vpmovzxbd_ymm_xmmm64, INVALID, VEX_Vpmovzxbq_ymm_xmmm32;
    /// Reads the lanes of memory whose mask is set; 0 elsewhere.
    MASKED_LOAD:
        INVALID, INVALID, INVALID;
        VEX_Vmaskmovps_ymm_ymm_m256, VEX_Vmaskmovps_xmm_xmm_m128, VEX_Vmaskmovpd_ymm_ymm_m256;
    /// Writes the lanes of memory whose mask is set.
    MASKED_STORE:
        INVALID, INVALID, INVALID;
        VEX_Vmaskmovps_m256_ymm_ymm, VEX_Vmaskmovps_m128_xmm_xmm, VEX_Vmaskmovpd_m256_ymm_ymm;
}
