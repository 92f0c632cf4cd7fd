//! Machine code as `nvdisasm -c -gp -hex` prints it: instructions with their control words and the lines of
//! the PTX that they come from.
//!
//! The control word is bits 105 to 125 of the 128 of an instruction: stall cycles 4, yield 1, the scoreboard
//! that a result sets 3 (7 for none), the one that reading the operands sets 3, the scoreboards waited for 6,
//! reuse 4.

use anyhow::{Context, Result};

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// With its modifiers, as in `LDG.E.128`.
    pub name: String,
    /// The text after the name.
    pub operands: String,
    /// Whether a predicate decides if it does anything.
    pub is_guarded: bool,
    /// The line of the PTX, 0 if it comes from none.
    pub line: u32,
    /// Scoreboards that its result, and the reading of its operands, set.
    pub sets: [Option<usize>; 2],
    /// Scoreboards that it waits for, as bits.
    pub waits: u32,
    /// The instruction it may jump to, by its number.
    pub target: Option<usize>,
}

impl Instruction {
    /// The name without modifiers.
    pub fn base(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Bytes of one lane of a load or a store.
    pub fn width(&self) -> u32 {
        let has = |word: &str| self.name.split('.').any(|part| part == word);
        match () {
            () if has("128") => 16,
            () if has("64") => 8,
            () if has("U8") || has("S8") => 1,
            () if has("U16") || has("S16") => 2,
            () => 4,
        }
    }
}

/// The instructions of an entry.
pub fn parse(text: &str, entry: &str) -> Result<Vec<Instruction>> {
    let section = format!(".text.{entry} ");
    let mut lines = text.lines().skip_while(|line| !(line.starts_with("//---") && line.contains(&section)));
    lines.next().with_context(|| format!("no section of `{entry}`"))?;
    let mut code: Vec<Instruction> = Vec::new();
    let (mut labels, mut jumps) = (Vec::new(), Vec::new());
    let mut ptx_line = 0;
    for line in lines.take_while(|line| !line.starts_with("//---")) {
        let line = line.trim();
        if let Some(rest) = line.split("\", line ").nth(1).filter(|_| line.starts_with("//## File")) {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            ptx_line = number.parse().unwrap_or(0);
        } else if let Some(label) = line.strip_suffix(':').filter(|label| label.starts_with(".L_")) {
            labels.push((label.to_owned(), code.len()));
        } else if line.starts_with("/*") && line.contains(';') {
            let (instruction, jump) = instruction(line, ptx_line).with_context(|| line.to_owned())?;
            jumps.extend(jump.map(|label| (code.len(), label)));
            code.push(instruction);
        } else if let (Some(word), Some(last)) = (encoding(line), code.last_mut()) {
            control(last, word);
        }
    }
    for (at, label) in jumps {
        code[at].target = labels.iter().find(|(name, _)| *name == label).map(|&(_, to)| to);
    }
    Ok(code)
}

/// The number in a line's last comment.
fn encoding(line: &str) -> Option<u64> {
    let word = line.rsplit("/* 0x").next().filter(|_| line.ends_with("*/"))?;
    u64::from_str_radix(word.trim_end_matches("*/").trim(), 16).ok()
}

/// Reads the upper half of an instruction's encoding.
fn control(instruction: &mut Instruction, upper: u64) {
    let bits = |from: u32, count: u32| (upper >> (from - 64) & ((1 << count) - 1)) as u32;
    let board = |number: u32| (number < 6).then_some(number as usize);
    instruction.sets = [board(bits(110, 3)), board(bits(113, 3))];
    instruction.waits = bits(116, 6);
}

fn instruction(line: &str, ptx_line: u32) -> Result<(Instruction, Option<String>)> {
    let after = line.split_once("*/").context("no address")?.1;
    let words = after.split(';').next().unwrap_or_default().trim();
    let (guard, words) = match words.strip_prefix('@') {
        Some(rest) => rest.split_once(' ').context("a guard alone")?,
        None => ("", words),
    };
    let words = words.trim();
    let (name, operands) = words.split_once(' ').unwrap_or((words, ""));
    let jump = operands.split("`(").nth(1).and_then(|rest| rest.split(')').next());
    let jump = jump.filter(|_| ["BRA", "CALL"].contains(&name.split('.').next().unwrap_or_default()));
    // A branch may have its predicate as an operand.
    let is_guarded = !guard.is_empty() && guard != "PT" && guard != "UPT"
        || name.starts_with("BRA") && operands.contains("P") && operands.contains(',');
    // So sm_80 leaves loops: nothing comes back from a call that a predicate decides.
    let name = if name == "CALL.REL.NOINC" && is_guarded { "BRA" } else { name };
    let instruction = Instruction {
        name: name.to_owned(),
        operands: operands.to_owned(),
        is_guarded,
        line: ptx_line,
        sets: [None, None],
        waits: 0,
        target: None,
    };
    Ok((instruction, jump.map(str::to_owned)))
}

#[cfg(test)]
pub const EXAMPLE: &str = r#"
//--------------------- .text.copy          --------------------------
	.section	.text.copy,"ax",@progbits
.text.copy:
	//## File ".nv_debug_ptx_txt", line 10
        /*0000*/                   S2R R0, SR_TID.X ;                       /* 0x0000000000007919 */
                                                                            /* 0x000e220000002100 */
.L_x_0:
	//## File ".nv_debug_ptx_txt", line 12
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R8.64] ; /* 0x0000000408048981 */
                                                                            /* 0x001ea8000c1e9d00 */
	//## File ".nv_debug_ptx_txt", line 13
        /*0020*/                   STG.E.128 desc[UR4][R2.64], R4 ;         /* 0x0000000402007986 */
                                                                            /* 0x004fe2000c101d04 */
	//## File ".nv_debug_ptx_txt", line 14
        /*0030*/               @P1 BRA `(.L_x_0) ;                          /* 0xfffffffc00341947 */
                                                                            /* 0x000fea000383ffff */
        /*0040*/                   EXIT ;                                   /* 0x000000000000794d */
                                                                            /* 0x000fea0003800000 */
//--------------------- .text.other          --------------------------
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read_with_control_words_lines_and_jumps() {
        let code = parse(EXAMPLE, "copy").expect("an entry");
        let names: Vec<&str> = code.iter().map(|instruction| instruction.name.as_str()).collect();
        assert_eq!(names, ["S2R", "LDG.E.128.CONSTANT", "STG.E.128", "BRA", "EXIT"]);
        assert_eq!(code.iter().map(|i| i.line).collect::<Vec<_>>(), [10, 12, 13, 14, 14]);
        let load = &code[1];
        assert_eq!((load.base(), load.width(), load.is_guarded), ("LDG", 16, true));
        assert_eq!((code[0].sets, load.sets), ([Some(0), None], [Some(2), None]));
        // The load waits for the thread's number, the store for the load.
        assert_eq!((load.waits, code[2].waits), (1, 4));
        assert_eq!(code[3].target, Some(1));
        assert!(parse(EXAMPLE, "absent").is_err());
    }
}
