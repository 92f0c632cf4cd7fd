//! The count of a kernel: what its machine code holds, and how often the simulated driver ran each line of
//! it.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::assembler::{Assembled, Tools};
use super::launches::{Launch, Place, Recorded};
use super::sass::Instruction;
use super::stencils::Needs;
use super::target::Target;
use crate::cases::workload::Sizes;

/// Bytes of the widest load.
pub const WIDEST: u32 = 16;

/// A case on a target. Figures are those of the launch with most threads at work.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelFacts {
    pub target: &'static str,
    pub group: &'static str,
    pub case: &'static str,
    pub dtype: String,
    pub launches: usize,
    pub entry: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub registers: u32,
    /// Bytes of spilled registers and of stack.
    pub spills: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Barriers between a loop's first instruction and its jump back.
    pub barriers_in_loops: usize,
    /// Loads of global memory of 16 bytes, and narrower ones, per computed point.
    pub wide_loads: f64,
    pub narrow_loads: f64,
    /// The most loads that are issued before one of them is waited for.
    pub loads_before_use: usize,
    /// Instructions of all threads per computed point.
    pub instructions: f64,
    /// Bytes that the loads of the machine code bring, over those that the simulator counted.
    pub agreement: f64,
    pub text_bytes: usize,
    pub ptxas_seconds: f64,
    /// Fewest 16-byte loads per point that bring every operand once.
    #[serde(skip)]
    pub least_loads: f64,
    /// Of stencils.
    #[serde(skip)]
    pub needs: Option<Needs>,
}

impl KernelFacts {
    /// The head of the table.
    pub fn head() -> String {
        let columns = KernelFacts::default().cells().map(|(column, _)| column);
        format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()))
    }

    /// Its row of the table.
    pub fn row(&self) -> String {
        format!("| {} |\n", self.cells().map(|(_, cell)| cell).join(" | "))
    }

    /// The columns of the table, and what it has in each.
    fn cells(&self) -> [(&'static str, String); 15] {
        let join = |extents: [u32; 3]| extents.map(|extent| extent.to_string()).join(",");
        let of = if self.launches > 1 { format!(" (of {})", self.launches) } else { String::new() };
        [
            ("target", self.target.to_owned()),
            ("case", self.case.to_owned()),
            ("type", self.dtype.clone()),
            ("entry", self.entry.clone() + &of),
            ("grid x block", format!("{} x {}", join(self.grid), join(self.block))),
            ("registers", self.registers.to_string()),
            ("spills", self.spills.to_string()),
            ("shared", self.shared_bytes.to_string()),
            ("barriers in loops", self.barriers_in_loops.to_string()),
            ("16-byte loads a point", format!("{:.3}", self.wide_loads)),
            ("narrower", format!("{:.3}", self.narrow_loads)),
            ("loads before use", self.loads_before_use.to_string()),
            ("instructions a point", format!("{:.1}", self.instructions)),
            ("text bytes", self.text_bytes.to_string()),
            ("ptxas", format!("{:.2} s", self.ptxas_seconds)),
        ]
    }
}

/// The facts of recorded cases.
pub fn kernel_facts(
    target: Target,
    recorded: &[Recorded],
    sizes: &Sizes,
    tools: &Tools,
    folder: &Path,
) -> Result<Vec<KernelFacts>> {
    let texts = recorded.iter().flat_map(|case| &case.launches).map(|launch| launch.ptx.as_str());
    let texts: Vec<&str> = texts.collect::<BTreeSet<&str>>().into_iter().collect();
    let assemble = |texts: &[&str]| {
        let one = |text: &&str| {
            let file = folder.join(format!("{text}.ptx"));
            Ok(((*text).to_owned(), tools.assemble(&file, target.sm())?))
        };
        texts.iter().map(one).collect::<Result<Vec<_>>>()
    };
    let (first, second) = texts.split_at(texts.len() / 2);
    let halves = std::thread::scope(|scope| {
        let other = scope.spawn(|| assemble(second));
        let own = assemble(first);
        [own, other.join().unwrap_or_else(|_| bail!("a thread that assembled panicked"))]
    });
    let mut assembled: HashMap<String, Assembled> = HashMap::new();
    for half in halves {
        assembled.extend(half?);
    }
    let facts = |case: &Recorded| {
        let about = || format!("{} {} for {}", case.workload.name, case.dtype, target.name);
        facts_of(target, case, sizes, &assembled).with_context(about)
    };
    recorded.iter().map(facts).collect()
}

fn facts_of(
    target: Target,
    case: &Recorded,
    sizes: &Sizes,
    assembled: &HashMap<String, Assembled>,
) -> Result<KernelFacts> {
    let Recorded { workload, dtype, launches } = case;
    let largest = launches.iter().max_by(|a, b| a.active.total_cmp(&b.active));
    let launch = largest.context("no launch was recorded")?;
    let module = &assembled[&launch.ptx];
    let (usage, code) = (module.usage(&launch.entry)?, module.code(&launch.entry)?);
    let [wide, narrow, bytes] = loads(launch, &code);
    let reads = launch.accesses.iter().filter(|access| access.place == Place::Read);
    let points = workload.computed(sizes);
    Ok(KernelFacts {
        target: target.name,
        group: workload.group,
        case: workload.name,
        dtype: dtype.to_string(),
        launches: launches.len(),
        entry: launch.entry.clone(),
        grid: launch.grid,
        block: launch.block,
        registers: usage.registers,
        spills: usage.spills,
        shared_bytes: usage.shared + launch.shared_bytes,
        barriers_in_loops: barriers_in_loops(&code),
        wide_loads: wide / points,
        narrow_loads: narrow / points,
        loads_before_use: loads_before_use(launch, &code),
        instructions: instructions(launch, &code) / points,
        agreement: bytes / reads.map(|access| access.bytes).sum::<f64>(),
        text_bytes: module.bytes,
        ptxas_seconds: module.seconds,
        needs: Needs::of(workload, dtype.size_bytes(), sizes),
        least_loads: (workload.inputs * dtype.size_bytes()) as f64 / f64::from(WIDEST),
    })
}

/// Loads by single threads of 16 bytes and of fewer, and the bytes of all.
pub(super) fn loads(launch: &Launch, code: &[Instruction]) -> [f64; 3] {
    let mut widths: HashMap<u32, u32> = HashMap::new();
    for load in code.iter().filter(|instruction| is_load(instruction)) {
        let width = widths.entry(load.line).or_default();
        *width = load.width().max(*width);
    }
    let mut sums = [0.0; 3];
    for &(line, _, lanes, _) in &launch.steps {
        let Some(&width) = widths.get(&line) else { continue };
        sums[usize::from(width < WIDEST)] += lanes;
        sums[2] += lanes * f64::from(width);
    }
    sums
}

/// Instructions that all threads run. Behind the first place that a warp's threads part ways to is what they
/// do when they have parted, which these never do.
fn instructions(launch: &Launch, code: &[Instruction]) -> f64 {
    let parted = code.iter().filter(|instruction| instruction.name == "BRA.DIV");
    let end = parted.filter_map(|instruction| instruction.target).min().unwrap_or(code.len());
    let mut of_line: HashMap<u32, f64> = HashMap::new();
    code[..end].iter().for_each(|instruction| *of_line.entry(instruction.line).or_default() += 1.0);
    let ran = |&(line, issues, ..): &(u32, f64, f64, f64)| of_line.get(&line).unwrap_or(&0.0) * issues;
    launch.steps.iter().map(ran).sum::<f64>() * 32.0
}

fn is_load(instruction: &Instruction) -> bool {
    ["LDG", "LDGSTS"].contains(&instruction.base())
}

pub(super) fn barriers_in_loops(code: &[Instruction]) -> usize {
    let jump = |(at, jump): (usize, &Instruction)| jump.target.filter(|&to| to <= at).map(|to| to..=at);
    let loops: Vec<_> = code.iter().enumerate().filter_map(jump).collect();
    let is_inside = |at: usize| loops.iter().any(|body| body.contains(&at));
    code.iter().enumerate().filter(|(at, barrier)| barrier.base() == "BAR" && is_inside(*at)).count()
}

/// In the order of the code that a warp in the middle ran. A load has arrived when the scoreboard that it
/// sets is waited for.
pub(super) fn loads_before_use(launch: &Launch, code: &[Instruction]) -> usize {
    let ran = |&&(.., issues): &&(u32, f64, f64, f64)| issues > 0.0;
    let ran: BTreeSet<u32> = launch.steps.iter().filter(ran).map(|step| step.0).collect();
    let (mut boards, mut issued, mut most) = (0u32, 0, 0);
    for instruction in code.iter().filter(|instruction| ran.contains(&instruction.line)) {
        if instruction.waits & boards != 0 {
            (boards, issued) = (0, 0);
        }
        if instruction.base() == "LDG"
            && let Some(board) = instruction.sets[0]
        {
            boards |= 1 << board;
            issued += 1;
            most = issued.max(most);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::super::sass::{EXAMPLE, parse};
    use super::*;

    #[test]
    fn a_loop_over_one_load_is_counted_by_its_turns() {
        let code = parse(EXAMPLE, "copy").expect("an entry");
        let steps = vec![(10, 1.0, 32.0, 1.0), (12, 4.0, 128.0, 4.0), (13, 4.0, 128.0, 4.0)];
        let launch = Launch { steps, ..Launch::default() };
        assert_eq!(loads(&launch, &code), [128.0, 0.0, 2048.0]);
        assert_eq!((loads_before_use(&launch, &code), barriers_in_loops(&code)), (1, 0));
        // One instruction of the first line, four times one of the others; two are of none that ran.
        assert_eq!(instructions(&launch, &code), 9.0 * 32.0);
        let mut parting = code.clone();
        parting[0] = Instruction { name: "BRA.DIV".to_owned(), target: Some(2), ..parting[0].clone() };
        assert_eq!(instructions(&launch, &parting), 5.0 * 32.0);
        // A line that the warp left out.
        let left_out = Launch { steps: vec![(10, 1.0, 32.0, 1.0), (12, 4.0, 128.0, 0.0)], ..launch };
        assert_eq!(loads_before_use(&left_out, &code), 0);
    }

    #[test]
    fn barriers_count_inside_loops_and_loads_until_one_is_waited_for() {
        let mut code = parse(EXAMPLE, "copy").expect("an entry");
        let (load, store) = (code[1].clone(), code[2].clone());
        // Two loads, then the store that waits for the first, then a third load.
        code.splice(2..3, [load.clone(), store, load]);
        let steps = code.iter().map(|instruction| (instruction.line, 1.0, 32.0, 1.0)).collect();
        assert_eq!(loads_before_use(&Launch { steps, ..Launch::default() }, &code), 2);
        let barrier = Instruction { name: "BAR.SYNC".to_owned(), ..code[0].clone() };
        code.insert(2, barrier.clone());
        let jump = code.iter_mut().find(|instruction| instruction.base() == "BRA").expect("a jump");
        jump.target = Some(1);
        code.push(barrier);
        assert_eq!(barriers_in_loops(&code), 1);
    }
}
