//! Machine code as text: the selected instructions with their registers, for reviewers and golden files.
//!
//! One line is one instruction. `p0[i+4]` is the block of parameter 0 that begins 4 bytes behind lane `i`,
//! `p0(-1, 0)` the row at these offsets from the point, `#` the bits of a constant, `slot` a spilled
//! register. The loops, and the partial block at the end of a row, are the same for all kernels and not
//! listed.

use std::fmt::Write as _;

use super::generator::CodeGenerator;
use super::registers::{AllocatedCode, AllocatedInstruction, MachineOperand, allocate};
use super::select::{ARGUMENTS, COUNTED, COUNTED_LONG, select};
use super::target::{IsaLevel, LaunchShape, OperandLayout, UnrollAndJam};
use super::virtual_code::{Home, VirtualCode};
use crate::ir::Op;
use crate::verify::Verified;

/// The pitch of a row in listings of rows that are computed together.
const PITCH: i64 = 1000;

/// The code of launches whose arrays are contiguous along the last dimension: for one row, and for several
/// rows whose outputs bypass the caches, where that gains.
pub fn listing(kernel: &Verified, level: IsaLevel) -> String {
    let Some(prepared) = CodeGenerator::new(kernel, level) else { return format!("{level:?}: no code\n") };
    let kernel = prepared.kernel();
    let last = kernel.rank.checked_sub(1);
    let coordinates = |dim: &usize| kernel.body.iter().any(|inst| inst.op == Op::Coord(*dim as u32));
    let shape = LaunchShape {
        unit: last,
        along: last.into_iter().filter(coordinates).collect(),
        layouts: vec![OperandLayout::Contiguous; kernel.params.len()],
    };
    let Some(steps) = select(kernel, &shape, kernel.params.len(), None, level) else {
        return format!("{level:?}: no code\n");
    };
    let mut text = format!("{level:?}, one row\n");
    write_steps(&mut text, &steps, &allocate(&steps));
    let strides: Vec<i64> = (0..kernel.rank as u32).rev().map(|dim| PITCH.pow(dim)).collect();
    for &dim in prepared.shared_dims().iter().filter(|dim| Some(**dim + 1) == last) {
        let jam = UnrollAndJam { dim, strides: vec![strides.clone(); kernel.params.len()], streams: true };
        if let Some((steps, allocated, rows)) = prepared.jammed(&shape, &jam) {
            let _ = writeln!(text, "{level:?}, {rows} rows of pitch {PITCH} together");
            write_steps(&mut text, &steps, &allocated);
        }
    }
    text
}

fn write_steps(text: &mut String, steps: &VirtualCode, allocated: &AllocatedCode) {
    let _ = writeln!(text, "  once per row");
    for placed in &allocated.prologue {
        let _ = writeln!(text, "    {}", instruction(steps, placed));
    }
    let _ = writeln!(text, "  per block of {} lanes", steps.lanes);
    for placed in &allocated.body.instructions {
        let _ = writeln!(text, "    {}", instruction(steps, placed));
    }
    for prefetch in &steps.prefetches {
        let _ = writeln!(text, "    prefetch {}", array(steps, prefetch.pointer, prefetch.bytes));
    }
    for (store, held) in steps.body.stores.iter().zip(&allocated.body.stored) {
        for placed in &held.reloads {
            let _ = writeln!(text, "    {}", instruction(steps, placed));
        }
        let register = format!("{:?}", held.register).to_lowercase();
        let _ = writeln!(text, "    store {} = {register}", memory(steps, store.to));
    }
}

fn instruction(steps: &VirtualCode, placed: &AllocatedInstruction) -> String {
    // `EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er`
    let code = format!("{:?}", placed.code);
    let mnemonic = code.split('_').nth(1).unwrap_or(&code).to_lowercase();
    let mut line = format!("{} = {mnemonic}", operand(steps, placed.dst));
    let mut separator = " ";
    for &arg in &placed.args {
        let _ = write!(line, "{separator}{}", operand(steps, arg));
        separator = ", ";
    }
    if let Some(immediate) = placed.immediate {
        let _ = write!(line, "{separator}{immediate}");
    }
    if let Some(mask) = placed.mask {
        let zeroing = if placed.zeroing { ", else 0" } else { "" };
        let _ = write!(line, " by {}{zeroing}", format!("{mask:?}").to_lowercase());
    }
    if placed.guard {
        line.push_str("; returns if any lane is set");
    }
    line
}

fn operand(steps: &VirtualCode, operand: MachineOperand) -> String {
    match operand {
        MachineOperand::Register(register) => format!("{register:?}").to_lowercase(),
        MachineOperand::Memory(home, _) => memory(steps, home),
        MachineOperand::Broadcast(home, _) => format!("all {}", memory(steps, home)),
        MachineOperand::Index => "i".to_owned(),
    }
}

fn memory(steps: &VirtualCode, home: Home) -> String {
    match home {
        Home::Nowhere => "nowhere".to_owned(),
        Home::Slot(n) => format!("slot{n}"),
        Home::Pool(word) if steps.pool[word] == 0 && word >= ARGUMENTS => format!("pool{}", word - ARGUMENTS),
        Home::Lanes(COUNTED | COUNTED_LONG) => "(0, 1, ..)".to_owned(),
        Home::Pool(word) | Home::Lanes(word) => {
            let bits = steps.pool[word];
            let is_pair = bits >> 32 == bits & u64::from(u32::MAX);
            format!("#{:x}", if is_pair { bits >> 32 } else { bits })
        }
        Home::Table(n) => format!("coordinate{}", steps.coordinates[n]),
        Home::Array { pointer, bytes } => array(steps, pointer, bytes),
        Home::Element { pointer, bytes } => array(steps, pointer, bytes).replace('i', "0"),
        Home::Level { bytes } => format!("level[{bytes}]"),
        Home::LevelEnd { bytes } => format!("level[end{bytes:+}]"),
    }
}

fn array(steps: &VirtualCode, pointer: usize, bytes: i32) -> String {
    let pointer = &steps.pointers[pointer];
    let mut text = format!("p{}", pointer.param);
    if pointer.offsets.iter().any(|&offset| offset != 0) {
        let offsets: Vec<String> = pointer.offsets.iter().map(i32::to_string).collect();
        let _ = write!(text, "({})", offsets.join(", "));
    }
    match bytes {
        0 => text.push_str("[i]"),
        bytes => {
            let _ = write!(text, "[i{bytes:+}]");
        }
    }
    text
}
