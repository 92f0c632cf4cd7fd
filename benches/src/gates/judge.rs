//! From recorded launches to a line of the table per case: machine code of the entry that was launched, the
//! walk of a warp, the prediction, and what it is compared with.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result, bail};
use partita::DType;
use serde::Serialize;

use super::assembler::{Assembled, Tools};
use super::launches::{Access, Launch, Place, Recorded, SECTOR};
use super::predict::{Counted, Prediction, predict};
use super::targets::Target;
use super::walk::{Latency, LineCount, Lines, Source, walk};
use crate::cases::view::View;
use crate::cases::workload::{Sizes, Workload};

/// Of the sectors that a load brings, the share that is new to the block: less than this is the halo,
/// which its neighbours load as well; less than that is nothing.
const HALO: f64 = 0.5;
const SOME: f64 = 0.05;

/// A case on a target. Figures are those of the launch that takes longest; the fraction counts them all.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelVerdict {
    pub target: &'static str,
    pub group: &'static str,
    pub case: &'static str,
    pub dtype: String,
    pub launches: usize,
    pub entry: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub registers: u32,
    pub spills: u32,
    /// Blocks that run side by side on a multiprocessor.
    pub blocks: u32,
    pub instructions_per_point: f64,
    /// Share of the accesses to memory that are 16 bytes wide.
    pub wide: f64,
    /// KiB of new bytes under way per multiprocessor, on average while nothing holds a warp up but latency.
    pub in_flight_kib: f64,
    /// What CUB asks for.
    pub needed_kib: u32,
    pub wavefronts_per_warp: f64,
    /// Cycles per warp, of a multiprocessor's time.
    pub dram: f64,
    pub l1: f64,
    pub l2: f64,
    pub issue: f64,
    pub latency: f64,
    pub lanes: f64,
    /// Bytes between L2 and memory over those necessary, by whole sectors.
    pub moved: f64,
    pub waves: f64,
    pub loop_bytes: usize,
    pub bound: &'static str,
    /// The predicted fraction of the speed of a copy.
    pub fraction: f64,
    pub goal: Option<f64>,
    /// Why the goal is lower than that of its kind.
    pub because: &'static str,
    pub text_bytes: usize,
    pub ptxas_seconds: f64,
    /// Whether the walk reached the end of the code.
    pub is_whole: bool,
    /// Bytes that the walked loads ask for, over those that the simulator counted.
    pub agreement: f64,
    /// Sectors and wavefronts of global memory per warp: of the walk, if its accesses lie side by side, and
    /// as the simulator counted them.
    pub walked: [f64; 2],
    pub counted: [f64; 2],
}

/// Waves of which the last one, not full, costs little.
const MANY_WAVES: f64 = 6.0;

impl KernelVerdict {
    /// How full the waves are, if they are few.
    pub fn filled(&self) -> f64 {
        if self.waves < MANY_WAVES { self.waves / self.waves.ceil().max(1.0) } else { 1.0 }
    }
}

/// The lines of recorded cases.
pub fn judge(
    target: &'static Target,
    recorded: &[Recorded],
    sizes: &Sizes,
    tools: &Tools,
    folder: &Path,
) -> Result<Vec<KernelVerdict>> {
    let texts: BTreeSet<&str> =
        recorded.iter().flat_map(|case| &case.launches).map(|launch| launch.ptx.as_str()).collect();
    let texts: Vec<&str> = texts.into_iter().collect();
    let assemble = |texts: &[&str]| {
        let one = |text: &&str| {
            let file = folder.join(format!("{text}.ptx"));
            Ok(((*text).to_owned(), tools.assemble(&file, target.sm)?))
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
    let mut lines = Vec::new();
    for case in recorded {
        let (name, dtype) = (case.workload.name, case.dtype);
        let line = line(target, case, sizes, &assembled);
        lines.push(line.with_context(|| format!("{name} {dtype} for {}", target.name))?);
    }
    Ok(lines)
}

fn line(
    target: &'static Target,
    case: &Recorded,
    sizes: &Sizes,
    assembled: &HashMap<String, Assembled>,
) -> Result<KernelVerdict> {
    let Recorded { workload, dtype, launches } = case;
    let necessary = workload.bytes(sizes, *dtype);
    let mut counted = Vec::new();
    let mut moved = 0.0;
    for launch in launches {
        let module = &assembled[&launch.ptx];
        let counted_launch = count(target, launch, module)?;
        moved += counted_launch.dram_bytes;
        let prediction = predict(target, &counted_launch);
        counted.push((launch, module, counted_launch, prediction));
    }
    let cycles: f64 = counted.iter().map(|(.., prediction)| prediction.cycles).sum();
    let sms = f64::from(target.multiprocessors);
    let fraction = necessary / target.dram_bytes() / sms / cycles;
    let longest = counted.iter().max_by(|a, b| a.3.cycles.total_cmp(&b.3.cycles));
    let (launch, module, counted_launch, prediction) = longest.context("no launch was recorded")?;
    let Counted { walk, warps, .. } = counted_launch;
    let usage = module.usage(&launch.entry)?;
    let per_warp = |cycles: f64| cycles * sms / warps.max(1.0);
    let Prediction { dram, l1, l2, issue, latency, waves, resident, .. } = *prediction;
    let fresh: f64 = launch.accesses.iter().filter(|a| a.place == Place::Read).map(|a| a.fresh).sum();
    let warps_resident = f64::from(launch.threads_of_a_block().div_ceil(32) * resident);
    let round = target.latency(launch.written * 20.0 > launch.read);
    let in_flight = fresh * SECTOR / warps.max(1.0) * warps_resident * (round / walk.cycles).min(1.0);
    let asked: f64 = launch.accesses.iter().filter(|a| a.place == Place::Read).map(|a| a.bytes).sum();
    // Lanes that take part in loads, of those of the warps that issue them.
    let reads = launch.by_line();
    let loads = launch.steps.iter().filter(|step| reads.contains_key(&step.0));
    let (issues, lanes) = loads.fold((0.0, 0.0), |sum, step| (sum.0 + step.1, sum.1 + step.2));
    let of_a_warp = lanes / f64::max(issues, 1.0);
    let global = || launch.accesses.iter().filter(|a| a.place != Place::Shared);
    let counted_of = |figure: fn(&Access) -> f64| global().map(figure).sum::<f64>() / warps.max(1.0);
    let (goal, because) = goal(workload, *dtype, necessary / sector_bytes(workload, sizes, *dtype));
    Ok(KernelVerdict {
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
        blocks: resident,
        instructions_per_point: walk.instructions * warps * 32.0 / workload.computed(sizes),
        wide: walk.accesses[1] / walk.accesses[0].max(1.0),
        in_flight_kib: in_flight / 1024.0,
        needed_kib: target.needed / 1024,
        wavefronts_per_warp: per_warp(l1),
        dram: per_warp(dram),
        l1: per_warp(l1),
        l2: per_warp(l2),
        issue: per_warp(issue),
        latency: per_warp(latency),
        lanes: launch.active / launch.threads,
        moved: moved / sector_bytes(workload, sizes, *dtype),
        waves,
        loop_bytes: walk.loop_bytes,
        bound: prediction.bound(),
        fraction,
        goal,
        because,
        text_bytes: module.bytes,
        ptxas_seconds: module.seconds,
        is_whole: walk.is_whole,
        agreement: walk.loaded * of_a_warp * warps / asked,
        walked: [walk.sectors, walk.wavefronts],
        counted: [counted_of(|a| a.sectors), counted_of(|a| a.wavefronts)],
    })
}

fn count(target: &Target, launch: &Launch, module: &Assembled) -> Result<Counted> {
    let code = module.code(&launch.entry)?;
    let accesses = launch.by_line();
    let branches =
        (1..).zip(&module.lines).filter(|(_, text)| text.contains("bra ") || text.contains("bra.uni "));
    let mut lines: Lines =
        branches.map(|(line, _)| (line, LineCount { is_branch: true, ..LineCount::default() })).collect();
    for &(line, _, _, issues) in &launch.steps {
        let access = accesses.get(&line).filter(|access| access.place == Place::Read);
        let fresh = access.map_or(0.0, |access| access.fresh / access.sectors);
        let count = lines.entry(line).or_default();
        count.issues = issues;
        count.source = match fresh {
            _ if fresh > HALO => Source::Memory,
            _ if fresh > SOME => Source::L2,
            _ => Source::L1,
        };
    }
    let writes = launch.written * 20.0 > launch.read;
    let [l1, l2] = target.hit_cycles;
    let latency = Latency { l1, l2, memory: target.latency(writes) };
    let walk = walk(&code, &lines, latency, &target.rates);
    let of_one: f64 = launch.steps.iter().map(|step| step.3).sum();
    let of_all: f64 = launch.steps.iter().map(|step| step.1).sum();
    let usage = module.usage(&launch.entry)?;
    Ok(Counted {
        blocks: launch.blocks(),
        threads: launch.threads_of_a_block(),
        registers: usage.registers,
        shared: usage.shared + launch.shared_bytes,
        dram_bytes: launch.dram_bytes(target.l2_kept),
        l2_bytes: launch.l2_bytes(),
        wavefronts: launch.accesses.iter().map(|access| access.wavefronts).sum(),
        warps: of_all / of_one.max(1.0),
        walk,
    })
}

/// Bytes that memory moves because sectors are whole: all of an array of which every second element is used.
fn sector_bytes(workload: &Workload, sizes: &Sizes, dtype: DType) -> f64 {
    let is_second = |view: Option<View>| view == Some(View::Second);
    let doubled = (0..workload.inputs).filter(|&input| is_second(workload.view_of_input(input))).count();
    let written = (0..workload.outputs).filter(|&output| is_second(workload.view_of_result(output))).count();
    // What is written in part is read as well.
    let of_one = workload.computed(sizes) * dtype.size_bytes() as f64;
    workload.bytes(sizes, dtype) + of_one * (doubled as f64 + 3.0 * written as f64)
}

/// The least fraction that is good enough, and why it is not that of most kernels.
fn goal(workload: &Workload, dtype: DType, share: f64) -> (Option<f64>, &'static str) {
    let of_type: f64 = if dtype.size_bytes() >= 4 { 0.93 } else { 0.85 };
    match (workload.name, share < 0.99) {
        ("expsin", _) => (Some(0.75), "exp and sin are arithmetic: issue decides"),
        ("d3q19" | "wave", _) => (Some(of_type.min(0.85)), "many arrays, or radius 4"),
        (_, true) => (Some(of_type * share), "sectors are whole: half of each is not requested"),
        _ => (Some(of_type), ""),
    }
}
