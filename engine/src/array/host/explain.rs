//! [`Outline`]: what an evaluation will do, as numbers and text: kernels with the bytes they must touch and
//! the operations they do, plans with the bytes of every link, and what is computed while these travel. It is
//! read off the steps that lowering makes.

use std::fmt;
use std::sync::Arc;

use partita_kernels::{Access, DType, Op};

use crate::array::lower::graph::{Graph, NodeId, RecordedGraph, Target};
use crate::array::lower::lowerer::lower;
use crate::array::lower::steps::list::{
    CopiedCells, HostSort, KernelLaunch, LaunchAxis, LaunchOperand, PartLaunch, PlanExchange, Step,
};
use crate::array::memory::storage::{between_members, moving_plan};
use crate::array::record::node::{Array, Node};
use crate::error::{Error, Result};
use crate::index::{Distribution, Region};
use crate::plan::{LinkTraffic, Plan};
use crate::team::Team;
use crate::transport::way_between;

/// The kernels that will run, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outline {
    /// One per kernel, which every part launches once (twice where it computes its core first).
    pub kernels: Vec<KernelStep>,
    /// The number of parts.
    pub parts: usize,
}

/// A kernel, and what it needs first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KernelStep {
    /// Its name.
    pub name: String,
    /// The division of the results.
    pub layout: String,
    /// The cells that each part computes.
    pub cells: Vec<u64>,
    /// Of these, those that depend on no transfer.
    pub core: Vec<u64>,
    /// Bytes that it reads at least: every cell of every operand once.
    pub read_bytes: u64,
    /// Bytes of its results.
    pub written_bytes: u64,
    /// Operations per cell, loads, stores and constants not counted; a mathematical function is one.
    pub operations: u64,
    /// The transfers that it waits for.
    pub exchanges: Vec<ExchangeStep>,
    /// Of a fused kernel, the operands that are arrays of blocks, as types and shapes.
    pub operands: Vec<String>,
    /// What the parts compute of a fused kernel; parts that compute nothing are left out.
    pub boxes: Vec<PartBoxes>,
}

/// The boxes that a part computes and reads. In the words of MLIR's Dist dialect: the target, the core and
/// the bounding boxes.
#[derive(Clone, PartialEq, Debug)]
pub struct PartBoxes {
    /// The part.
    pub part: usize,
    /// The elements of the result that it computes; of a slice that is assigned to, counted from its first.
    pub target: Region,
    /// Of these, those that read nothing that travels.
    pub core: Region,
    /// Of each of the kernel's operands, the smallest box around all cells that it reads.
    pub reads: Vec<Region>,
}

/// The transfers of one operand by a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct ExchangeStep {
    /// Whether it is a halo, boxes, or elements in the kernel's order.
    pub what: &'static str,
    /// The operand, as its type and shape.
    pub operand: String,
    /// The links, also those within a part; from another team not those within a member.
    pub links: Vec<LinkTraffic>,
    /// The transport of each link, in words such as `kernel`, `peer`, `CUDA IPC` and `in place by TCP`.
    pub ways: Vec<String>,
    /// Bytes per element.
    pub element_bytes: u64,
    /// The team that holds the operand, if it is another than the kernel's.
    pub from_team: Option<String>,
}

impl ExchangeStep {
    /// The bytes that go from one part to another.
    pub fn bytes(&self) -> u64 {
        self.between().map(|(link, _)| link.elements * self.element_bytes).sum()
    }

    /// The links from one member to another, with their transports.
    fn between(&self) -> impl Iterator<Item = (&LinkTraffic, &String)> {
        let all = self.links.iter().zip(&self.ways);
        all.filter(|(link, _)| self.from_team.is_some() || link.from_part != link.to_part)
    }
}

impl Array {
    /// The kernels that compute the array, if it is not computed yet. Computes, allocates and sends nothing.
    ///
    /// # Errors
    /// The error the array carries.
    #[doc = example!(
        "let next = u.slice(&s![.., ..-1]) + u.slice(&s![.., 1..]);"
        "let outline = next.explain()?;"
        "assert_eq!(outline.kernels[0].name, \"copy_box\"); // To memory with room for a halo, once."
        "assert_eq!((&outline.kernels[1].name[..], next.is_computed()), (\"fused\", false));"
    )]
    pub fn explain(&self) -> Result<Outline> {
        explain_all(&[self])
    }
}

/// The kernels that compute several arrays of one team together, as [`eval_all`](crate::array::eval_all)
/// does.
///
/// # Errors
/// As [`Array::explain`]; arrays of several teams.
#[doc = example!(
    "let next = &u * 0.5;"
    "let change = (&next - &u).abs().max(&[]);"
    "// One kernel computes the step and the norm of what it changes."
    "assert_eq!(partita::explain_all(&[&next, &change])?.kernels[0].name, \"reduce\");"
)]
pub fn explain_all(arrays: &[&Array]) -> Result<Outline> {
    let Some(first) = arrays.first() else { return Ok(Outline::default()) };
    let team = first.team();
    let _guard = team.evaluation()?;
    let mut outline = Outline { parts: team.size(), ..Outline::default() };
    if let Some(other) = arrays.iter().find(|array| array.team() != team) {
        let given = format!("{:?} and {:?}", team, other.team());
        return Err(Error::invalid("explain", "arrays of one team", given, "ask for each team's alone"));
    }
    let lazy = arrays.iter().filter(|array| array.node.storage().is_none());
    let wanted: Vec<Arc<Node>> = lazy.map(|array| Arc::clone(&array.node)).collect();
    if wanted.is_empty() {
        return Ok(outline);
    }
    // Operands on other teams come before, each once.
    let of = |nodes: &[Arc<Node>]| nodes.iter().map(Target::fresh).collect::<Vec<Target>>();
    let (mut order, mut pending): (Vec<Vec<Arc<Node>>>, _) = (Vec::new(), vec![wanted]);
    while let Some(nodes) = pending.pop() {
        order.retain(|others| !Arc::ptr_eq(&others[0], &nodes[0]));
        let sources = RecordedGraph::of(&nodes[0].team, &of(&nodes))?.pending;
        pending.extend(sources.into_iter().map(|source| vec![source]));
        order.push(nodes);
    }
    for nodes in order.iter().rev() {
        let (team, mut targets) = (&nodes[0].team, of(nodes));
        let beside = RecordedGraph::of(team, &targets)?.repeated();
        targets.extend(beside.iter().map(Target::fresh));
        let RecordedGraph { mut graph, nodes, .. } = RecordedGraph::of(team, &targets)?;
        let lowered = lower(&mut graph, team, None, true)?;
        let (waiting, kernels) = (Vec::new(), Vec::new());
        let mut explain = Explain { graph: &graph, nodes: &nodes, team, waiting, kernels };
        lowered.list.steps.iter().try_for_each(|step| explain.step(step))?;
        let layout = graph.distribution(lowered.results[0])?;
        explain.end(&layout)?;
        outline.kernels.append(&mut explain.kernels);
    }
    Ok(outline)
}

/// A graph after it was lowered, its team, and what is said so far.
struct Explain<'a> {
    graph: &'a Graph,
    /// The recorded nodes of the graph.
    nodes: &'a [Arc<Node>],
    team: &'a Team,
    /// The exchanges that the next kernel waits for.
    waiting: Vec<ExchangeStep>,
    kernels: Vec<KernelStep>,
}

impl Explain<'_> {
    fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Exchange(PlanExchange { fields, launches }) => {
                for field in fields {
                    let (what, links) = (field.what, field.plan.whole()?.links());
                    let (operand, ways) =
                        (format!("{} {}", field.dtype, field.shape), self.ways(self.team, &links));
                    let element_bytes = field.dtype.size_bytes() as u64;
                    let from_team = None;
                    self.waiting.push(ExchangeStep { what, operand, links, ways, element_bytes, from_team });
                }
                for launch in launches {
                    self.push_with_core(self.launched(launch)?);
                }
            }
            Step::Launch(launch) => self.push(self.launched(launch)?),
            Step::Copy { from, to, dtype, cells } => self.push(self.copied(*from, *to, *dtype, cells)?),
            Step::Sort(HostSort { dist, dtype, .. }) => self.push(gathering("sort", dist, *dtype)?),
            Step::Move { base, dist, dtype, plan, .. } => {
                let moved = self.moved(*base, dist, *dtype, plan.as_ref())?;
                self.waiting.extend(moved);
                self.push(gathering("move", dist, *dtype)?);
            }
            Step::Allocate(_) | Step::Alias { .. } | Step::Donate { .. } => {}
        }
        Ok(())
    }

    /// The transports of links from the members of a team.
    fn ways(&self, from: &Team, links: &[LinkTraffic]) -> Vec<String> {
        links.iter().map(|link| way_between((from, link.from_part), (self.team, link.to_part))).collect()
    }

    /// Adds a kernel, which waits for the exchanges before it.
    fn push(&mut self, mut kernel: KernelStep) {
        if !self.waiting.is_empty() {
            kernel.core.fill(0);
        }
        self.push_with_core(kernel);
    }

    /// Adds a kernel of which only the rim waits for them.
    fn push_with_core(&mut self, mut kernel: KernelStep) {
        kernel.exchanges.append(&mut self.waiting);
        self.kernels.push(kernel);
    }

    /// Elements that come from an array of any team.
    fn moved(
        &self,
        base: NodeId,
        dist: &Distribution,
        dtype: DType,
        plan: Option<&Arc<Plan>>,
    ) -> Result<Option<ExchangeStep>> {
        let Some(source) = self.graph.memory(base) else { return Ok(None) };
        let from = &self.nodes[base as usize].team;
        let plan = match plan {
            Some(plan) => Arc::clone(plan),
            None => moving_plan(source, dist, (from, self.team))?,
        };
        let mut links = plan.whole()?.links();
        if from != self.team {
            links.retain(between_members(from, self.team));
        }
        let from_team = (from != self.team).then(|| from.to_string());
        let operand = format!("{dtype} {}", self.graph.shape(base));
        let what = if from_team.is_some() { "elements of another team" } else { "elements" };
        let (ways, element_bytes) = (self.ways(from, &links), dtype.size_bytes() as u64);
        Ok(Some(ExchangeStep { what, operand, links, ways, element_bytes, from_team }))
    }

    /// The copies of cells within parts.
    fn copied(&self, from: NodeId, to: NodeId, dtype: DType, cells: &CopiedCells) -> Result<KernelStep> {
        let dist = self.graph.distribution(to)?;
        let mut said = gathering("copy_box", &dist, dtype)?;
        let of = match cells {
            CopiedCells::Owned | CopiedCells::Current => return Ok(said),
            CopiedCells::Outside(region) => dist.restricted(region)?,
            CopiedCells::Window(_) => (*self.graph.distribution(from)?).clone(),
        };
        let window = per_part(&dist, |part| of.owned(part))?;
        for (all, window) in said.cells.iter_mut().zip(window) {
            *all = if matches!(cells, CopiedCells::Outside(_)) { *all - window } else { window };
        }
        said.core = said.cells.clone();
        let bytes = said.cells.iter().sum::<u64>() * dtype.size_bytes() as u64;
        Ok(KernelStep { read_bytes: bytes, written_bytes: bytes, ..said })
    }

    /// An exchange after the last kernel brings the result to where it belongs.
    fn end(&mut self, layout: &Arc<Distribution>) -> Result<()> {
        if !self.waiting.is_empty() {
            let said = KernelStep { cells: vec![0; layout.parts()], ..kernel_step("move", layout)? };
            self.push(said);
        }
        Ok(())
    }

    /// A launch, with what it must read and write.
    fn launched(&self, launch: &KernelLaunch) -> Result<KernelStep> {
        let mut said = launched(launch)?;
        let Some(fused) = &launch.fused else { return Ok(said) };
        let mut reads: Vec<(NodeId, Vec<Region>)> = Vec::new();
        for (node, boxes) in &fused.reads {
            match reads.iter_mut().find(|(other, _)| other == node) {
                Some((_, hulls)) => {
                    hulls.iter_mut().zip(boxes).for_each(|(hull, read)| *hull = hull.hull(read))
                }
                None => reads.push((*node, boxes.clone())),
            }
        }
        let operand =
            |(node, _): &(NodeId, _)| format!("{} {}", self.graph.dtype(*node), self.graph.shape(*node));
        said.operands = reads.iter().map(operand).collect();
        said.boxes = launch
            .launches
            .iter()
            .map(|&PartLaunch { part, region: target, core, .. }| PartBoxes {
                part,
                target,
                core,
                reads: reads.iter().map(|(_, boxes)| boxes[part]).collect(),
            })
            .collect();
        Ok(said)
    }
}

/// The same without the boxes of its parts.
fn launched(launch: &KernelLaunch) -> Result<KernelStep> {
    let kernel = launch.kernel.kernel();
    let mut said = kernel_step(&kernel.name, &launch.layout)?;
    said.cells.fill(0);
    said.core.fill(0);
    for launch in &launch.launches {
        said.cells[launch.part] += launch.region.volume()? as u64;
        said.core[launch.part] += launch.core.volume()? as u64;
    }
    said.operations = kernel.body.iter().filter(|inst| is_work(&inst.op)).count() as u64;
    if let Some(fused) = &launch.fused {
        (said.read_bytes, said.written_bytes) = (fused.read_bytes, fused.written_bytes);
        return Ok(said);
    }
    for (param, operand) in kernel.params.iter().zip(&launch.operands) {
        // Along dimensions that an operand does not follow it is read once.
        let along = |part: &PartLaunch, axes: &[LaunchAxis]| {
            axes.iter().map(|axis| part.region.extent(axis.dim) as u64).product::<u64>()
        };
        let cells: u64 = match operand {
            LaunchOperand::Cells { axes, .. } => launch.launches.iter().map(|part| along(part, axes)).sum(),
            LaunchOperand::WindowList { dim, .. } | LaunchOperand::List { dim, .. } => {
                launch.launches.iter().map(|part| part.region.extent(*dim) as u64).sum()
            }
            LaunchOperand::Line { .. }
            | LaunchOperand::OfLaunch { .. }
            | LaunchOperand::StepNumber(..)
            | LaunchOperand::Numbered { .. }
            | LaunchOperand::Positions { .. } => said.cells.iter().sum(),
        };
        let bytes = cells * param.dtype.size_bytes() as u64;
        match param.access {
            Access::In => said.read_bytes += bytes,
            Access::Out => said.written_bytes += bytes,
            Access::InOut => {
                said.read_bytes += bytes;
                said.written_bytes += bytes;
            }
        }
    }
    Ok(said)
}

/// Elements gathered on the parts where they are.
fn gathering(name: &str, dist: &Arc<Distribution>, dtype: DType) -> Result<KernelStep> {
    let bytes = dist.global().volume()? as u64 * dtype.size_bytes() as u64;
    Ok(KernelStep { read_bytes: bytes, written_bytes: bytes, ..kernel_step(name, dist)? })
}

/// A kernel that waits for nothing.
fn kernel_step(name: &str, dist: &Distribution) -> Result<KernelStep> {
    let (name, layout) = (name.to_owned(), format!("shape {}, grid {}", dist.shape(), dist.grid()));
    let cells = per_part(dist, |part| dist.owned(part))?;
    Ok(KernelStep { name, layout, core: cells.clone(), cells, ..KernelStep::default() })
}

fn per_part(dist: &Distribution, region: impl Fn(usize) -> Region) -> Result<Vec<u64>> {
    (0..dist.parts()).map(|part| Ok(region(part).volume()? as u64)).collect()
}

fn is_work(op: &Op) -> bool {
    !matches!(op, Op::Const(_) | Op::Argument(_) | Op::Coord(_) | Op::Load { .. })
}

impl Outline {
    /// The bytes that go between parts, in all exchanges.
    pub fn exchanged_bytes(&self) -> u64 {
        self.kernels.iter().flat_map(|kernel| &kernel.exchanges).map(ExchangeStep::bytes).sum()
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kernels.is_empty() {
            return write!(f, "computed: nothing will run");
        }
        for (k, kernel) in self.kernels.iter().enumerate() {
            if k > 0 {
                writeln!(f)?;
            }
            write!(f, "{kernel}")?;
        }
        Ok(())
    }
}

impl fmt::Display for KernelStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells: u64 = self.cells.iter().sum();
        let busy = self.cells.iter().filter(|&&cells| cells > 0).count();
        for (at, exchange) in self.exchanges.iter().enumerate() {
            f.write_str(if at > 0 { "\n" } else { "" })?;
            write!(f, "{exchange}")?;
        }
        // Elements that only arrive.
        if cells == 0 && !self.exchanges.is_empty() {
            return Ok(());
        }
        f.write_str(if self.exchanges.is_empty() { "" } else { "\n" })?;
        write!(
            f,
            "kernel {} on {busy} parts ({}): {} bytes read, {} written, {} operations",
            self.name,
            self.layout,
            self.read_bytes,
            self.written_bytes,
            self.operations * cells,
        )?;
        let core: u64 = self.core.iter().sum();
        if !self.exchanges.is_empty() || core < cells {
            write!(f, "\n  {core} of {cells} cells need nothing of what travels between ranks or devices")?;
        }
        Ok(())
    }
}

impl fmt::Display for ExchangeStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_LINES: usize = 32;
        write!(
            f,
            "plan {} of {}: {} bytes over {} links",
            self.what,
            self.operand,
            self.bytes(),
            self.between().count()
        )?;
        if let Some(team) = &self.from_team {
            write!(f, ", from {team}")?;
        }
        for (link, way) in self.between().take(MOST_LINES) {
            let bytes = link.elements * self.element_bytes;
            write!(f, "\n  {} -> {}: {bytes} bytes, {way}", link.from_part, link.to_part)?;
        }
        match self.between().count().saturating_sub(MOST_LINES) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more links"),
        }
    }
}
