//! The types that instructions and registers carry, and which register may serve which instruction.

/// A type of an instruction or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Pred,
    B8,
    U8,
    S8,
    B16,
    U16,
    S16,
    B32,
    U32,
    S32,
    B64,
    U64,
    S64,
    F16,
    BF16,
    /// Two halves of a 32-bit register.
    F16X2,
    BF16X2,
    F32,
    F64,
}

/// The kind of value that a type holds, whatever its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Pred,
    Bits,
    Unsigned,
    Signed,
    Float,
    /// Two floats in a register of bits.
    Packed,
}

use Type::*;

const NAMES: [(&str, Type); 19] = [
    ("pred", Pred),
    ("b8", B8),
    ("u8", U8),
    ("s8", S8),
    ("b16", B16),
    ("u16", U16),
    ("s16", S16),
    ("b32", B32),
    ("u32", U32),
    ("s32", S32),
    ("b64", B64),
    ("u64", U64),
    ("s64", S64),
    ("f16", F16),
    ("bf16", BF16),
    ("f16x2", F16X2),
    ("bf16x2", BF16X2),
    ("f32", F32),
    ("f64", F64),
];

impl Type {
    /// The type of this name, which has no dot in front.
    pub(crate) fn named(name: &str) -> Option<Type> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Width in bits; 1 for a predicate.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Pred => 1,
            B8 | U8 | S8 => 8,
            B16 | U16 | S16 | F16 | BF16 => 16,
            B32 | U32 | S32 | F16X2 | BF16X2 | F32 => 32,
            B64 | U64 | S64 | F64 => 64,
        }
    }

    pub(crate) fn class(self) -> Class {
        match self {
            Pred => Class::Pred,
            B8 | B16 | B32 | B64 => Class::Bits,
            U8 | U16 | U32 | U64 => Class::Unsigned,
            S8 | S16 | S32 | S64 => Class::Signed,
            F16 | BF16 | F32 | F64 => Class::Float,
            F16X2 | BF16X2 => Class::Packed,
        }
    }

    pub(crate) fn is_signed(self) -> bool {
        self.class() == Class::Signed
    }

    /// The bits a value of this type may have set.
    pub(crate) fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Whether registers may be declared with this type.
    pub(crate) fn is_register(self) -> bool {
        !matches!(self, B8 | U8 | S8 | F16 | BF16 | F16X2 | BF16X2)
    }

    /// Whether a register of type `register` may hold a value of this type, whatever their widths.
    fn agrees(self, register: Type) -> bool {
        match (self.class(), register.class()) {
            (Class::Pred, other) | (other, Class::Pred) => other == Class::Pred,
            (Class::Packed, other) | (other, Class::Packed) => other == Class::Bits,
            (Class::Bits, _) | (_, Class::Bits) => true,
            (Class::Float, Class::Float) => true,
            (Class::Float, _) | (_, Class::Float) => false,
            (Class::Unsigned | Class::Signed, Class::Unsigned | Class::Signed) => true,
        }
    }

    /// Whether `register` may be an operand where an instruction asks for this type.
    pub(crate) fn accepts(self, register: Type) -> bool {
        self.agrees(register) && self.bits() == register.bits()
    }

    /// The same for `ld`, `st` and `cvt`, where the register of an integer may be wider.
    pub(crate) fn accepts_wider(self, register: Type) -> bool {
        let wider = self.class() != Class::Float && self.bits() < register.bits();
        self.accepts(register) || (wider && self.agrees(register))
    }
}

/// The header of a text: the machine that it is for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Header {
    /// Major times ten plus minor.
    pub version: u32,
    pub target: u32,
}
