//! [`Outline`]: what an evaluation will do, as numbers and text: kernels with the bytes they must touch and
//! the operations they do, plans with the bytes of every link, and what is computed while these travel. Knows
//! no devices; a drawing of it is `outline_svg`'s.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use partita_kernels::{DType, Kernel, Op};

use crate::array::Array;
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::compute_region::ComputeRegion;
use crate::array::lower::locality::Reached;
use crate::array::lower::operand_access::{AccessMethod, OperandAccess, operand_accesses};
use crate::array::lower::reduction_groups::PendingReduction;
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::record::map::Map;
use crate::array::record::node::{Expr, Node, NodeState, Operands, Portion};
use crate::array::run::evaluate::{evaluate, lower_all};
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::plan::LinkTraffic;

/// What will run, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outline {
    /// One per kernel, which every part launches once (twice where it computes its core first).
    pub kernels: Vec<KernelStep>,
    /// The number of parts.
    pub parts: usize,
}

/// A kernel, and what it needs first.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelStep {
    /// Its name.
    pub name: String,
    /// How the results are divided.
    pub layout: String,
    /// The cells that each part computes.
    pub cells: Vec<u64>,
    /// Of these, those that need nothing that is on its method.
    pub core: Vec<u64>,
    /// Bytes that it reads at least: every cell of every operand once.
    pub read_bytes: u64,
    /// Bytes of its results.
    pub written_bytes: u64,
    /// Operations per cell, loads, stores and constants not counted; a mathematical function is one.
    pub operations: u64,
    /// What has to be brought.
    pub exchanges: Vec<ExchangeStep>,
}

/// What a plan brings of one operand.
#[derive(Clone, PartialEq, Debug)]
pub struct ExchangeStep {
    /// Whether it is a halo, boxes, or elements in the kernel's order.
    pub what: &'static str,
    /// The operand, as its type and shape.
    pub operand: String,
    /// The links, also those within a part.
    pub links: Vec<LinkTraffic>,
    /// Bytes per element.
    pub element_bytes: u64,
}

impl ExchangeStep {
    /// The bytes that go from one part to another.
    pub fn bytes(&self) -> u64 {
        self.links.iter().filter(|l| l.from_part != l.to_part).map(|l| l.elements * self.element_bytes).sum()
    }
}

impl Array {
    /// What computing the array will do, if it is not computed yet. Computes, allocates and sends nothing.
    ///
    /// # Errors
    /// The error the array carries.
    pub fn explain(&self) -> Result<Outline> {
        let team = self.team();
        let _guard = team.evaluation();
        let copy = copied(&self.node);
        let begun =
            Telling { outline: Outline { parts: team.size(), ..Outline::default() }, fresh: Vec::new() };
        /// Ends the telling, also when a map of the user's panics.
        struct End;
        impl Drop for End {
            fn drop(&mut self) {
                TELLING.set(None);
            }
        }
        let _end = End;
        TELLING.set(Some(begun));
        evaluate(std::slice::from_ref(&copy))?;
        Ok(TELLING.take().map(|told| told.outline).unwrap_or_default())
    }
}

/// The outline under construction, and the halos that will be current by then.
struct Telling {
    outline: Outline,
    fresh: Vec<(Arc<Storage>, HaloWidths)>,
}

thread_local! {
    static TELLING: RefCell<Option<Telling>> = const { RefCell::new(None) };
}

/// Whether this thread only tells what it would do.
pub(crate) fn is_telling() -> bool {
    TELLING.with_borrow(Option::is_some)
}

/// The same expression in nodes of its own, so that telling leaves no trace. Computed values are shared.
fn copied(root: &Arc<Node>) -> Arc<Node> {
    let mut copies: HashMap<*const Node, Arc<Node>> = HashMap::new();
    let of = |copies: &HashMap<*const Node, Arc<Node>>, node: &Arc<Node>| {
        copies.get(&Arc::as_ptr(node)).unwrap_or(node).clone()
    };
    for node in Reached::from([root], None).lazy {
        let copy = match &*node.state() {
            NodeState::Ready(_) | NodeState::Failed(_) => continue,
            NodeState::Lazy { expr, layout } => {
                let expr = match expr {
                    Expr::Fill(scalar) => Expr::Fill(*scalar),
                    Expr::Coord(d) => Expr::Coord(*d),
                    Expr::Number(numbers, which) => Expr::Number(Arc::clone(numbers), *which),
                    Expr::Apply(op, Operands::One([a])) => Expr::Apply(*op, Operands::One([of(&copies, a)])),
                    Expr::Apply(op, Operands::Two(nodes)) => {
                        Expr::Apply(*op, Operands::Two([0, 1].map(|k| of(&copies, &nodes[k]))))
                    }
                    Expr::Apply(op, Operands::Three(nodes)) => {
                        Expr::Apply(*op, Operands::Three([0, 1, 2].map(|k| of(&copies, &nodes[k]))))
                    }
                    Expr::View { base, map } => Expr::View { base: of(&copies, base), map: Arc::clone(map) },
                    Expr::Reduce { operand, reduction, axes } => Expr::Reduce {
                        operand: of(&copies, operand),
                        reduction: *reduction,
                        axes: axes.clone(),
                    },
                    Expr::Joined(portions) => {
                        let copy = |Portion { start, value }: &Portion| Portion {
                            start: *start,
                            value: of(&copies, value),
                        };
                        Expr::Joined(portions.iter().map(copy).collect())
                    }
                    Expr::Listed { base, which } => {
                        Expr::Listed { base: of(&copies, base), which: which.clone() }
                    }
                    Expr::Reshaped { base } => Expr::Reshaped { base: of(&copies, base) },
                };
                Node::lazy(node.shape, node.dtype, &node.team, expr, layout.clone())
            }
        };
        copies.insert(Arc::as_ptr(&node), copy);
    }
    of(&copies, root)
}

/// Memory that is not there, for results that are only told of.
pub(crate) fn nowhere(dist: Arc<Distribution>) -> Storage {
    let parts = vec![None; dist.parts()];
    Storage::from_parts(dist, parts)
}

/// Notes a kernel over `dist` that writes so many bytes.
pub(crate) fn tell(
    kernel: &Kernel,
    leaves: &[Leaf],
    found: &[Option<OperandAccess>],
    dist: &Arc<Distribution>,
    written_bytes: u64,
) -> Result<()> {
    let mut step = KernelStep {
        name: kernel.name.clone(),
        layout: format!("shape {}, grid {}", dist.shape(), dist.grid()),
        cells: per_part(dist, |part| dist.owned(part))?,
        core: Vec::new(),
        read_bytes: 0,
        written_bytes,
        operations: kernel.body.iter().filter(|inst| is_work(&inst.op)).count() as u64,
        exchanges: Vec::new(),
    };
    let mut core: Vec<Region> = (0..dist.parts()).map(|part| dist.owned(part)).collect();
    let mut asked: Vec<(*const Node, Vec<LinkTraffic>)> = Vec::new();
    for (leaf, access) in leaves.iter().zip(found) {
        let (Source::Array(node, _), Some(access)) = (&leaf.source, access) else { continue };
        let size = node.dtype.size_bytes() as u64;
        step.read_bytes += size * read_cells(access, dist)?;
        if !will_lack(access) {
            continue;
        }
        let Some(plan) = access.plan(leaf, dist, &node.team)? else { continue };
        remember(access);
        for (part, core) in core.iter_mut().enumerate() {
            *core = access.untouched(&leaf.maps[0], dist, part, core);
        }
        let links = plan.links();
        let same =
            |(other, known): &(*const Node, Vec<LinkTraffic>)| *other == Arc::as_ptr(node) && *known == links;
        // Views of one array share a halo or a box.
        if matches!(access.method, AccessMethod::Aligned) || !asked.iter().any(same) {
            asked.push((Arc::as_ptr(node), links.clone()));
            step.exchanges.push(exchange(node, access, links));
        }
    }
    step.core = core
        .iter()
        .map(|core| core.volume().map(|cells| cells as u64))
        .collect::<std::result::Result<_, _>>()?;
    push(step);
    Ok(())
}

fn exchange(node: &Arc<Node>, access: &OperandAccess, links: Vec<LinkTraffic>) -> ExchangeStep {
    let what = match access.method {
        AccessMethod::Local => "nothing",
        AccessMethod::Halo(_) => "halo",
        AccessMethod::Fetch(_) | AccessMethod::FetchGlobal(_) => "boxes",
        AccessMethod::Aligned => "elements in the kernel's order",
    };
    let operand = format!("{} {}", node.dtype, node.shape);
    ExchangeStep { what, operand, links, element_bytes: node.dtype.size_bytes() as u64 }
}

/// Notes reductions over one layout, and the kernel of their first pass.
pub(crate) fn tell_reductions(
    dist: &Arc<Distribution>,
    axes: &[usize],
    members: &[PendingReduction],
) -> Result<Vec<Storage>> {
    let operands: Vec<&Arc<Node>> = members.iter().map(|member| &member.operand).collect();
    let Some((mut lowering, values)) = lower_all("reduce", &operands, dist, 4 * operands.len())? else {
        let (left, right) = members.split_at(members.len() / 2);
        let mut results = tell_reductions(dist, axes, left)?;
        results.extend(tell_reductions(dist, axes, right)?);
        return Ok(results);
    };
    let found = operand_accesses(&lowering.leaves, dist, &ComputeRegion::owned(dist))?;
    let folded = operands.iter().zip(values);
    let stores: Vec<_> =
        folded.map(|(operand, value)| (lowering.builder.output(operand.dtype), value)).collect();
    let kernel = partita_kernels::simplify(&lowering.builder.elementwise(&stores)?);
    let result = Arc::new(dist.reduced(axes)?);
    let size: u64 = members.iter().map(|member| member.node.dtype.size_bytes() as u64).sum();
    tell(kernel.kernel(), &lowering.leaves, &found, dist, result.global().volume()? as u64 * size)?;
    Ok(members.iter().map(|_| nowhere(Arc::clone(&result))).collect())
}

/// Notes that elements are gathered, or scattered, on the parts where they are.
pub(crate) fn tell_gathering(name: &str, dist: &Arc<Distribution>, dtype: DType) -> Result<()> {
    let bytes = dist.global().volume()? as u64 * dtype.size_bytes() as u64;
    let cells = per_part(dist, |part| dist.owned(part))?;
    push(KernelStep {
        name: name.to_owned(),
        layout: format!("shape {}, grid {}", dist.shape(), dist.grid()),
        core: cells.clone(),
        cells,
        read_bytes: bytes,
        written_bytes: bytes,
        operations: 0,
        exchanges: Vec::new(),
    });
    Ok(())
}

fn push(step: KernelStep) {
    TELLING.with_borrow_mut(|telling| telling.iter_mut().for_each(|t| t.outline.kernels.push(step.clone())));
}

/// Whether a halo is neither current nor made so by an earlier kernel.
fn will_lack(access: &OperandAccess) -> bool {
    let AccessMethod::Halo(halo) = &access.method else { return true };
    let covers = |(storage, fresh): &(Arc<Storage>, HaloWidths)| {
        Arc::ptr_eq(storage, &access.storage) && fresh.covers(halo)
    };
    let made = |telling: &Option<Telling>| telling.as_ref().is_some_and(|t| t.fresh.iter().any(covers));
    !TELLING.with_borrow(made)
}

fn remember(access: &OperandAccess) {
    let AccessMethod::Halo(halo) = &access.method else { return };
    TELLING.with_borrow_mut(|telling| {
        telling.iter_mut().for_each(|t| t.fresh.push((Arc::clone(&access.storage), halo.clone())));
    });
}

/// The cells of an operand that the parts read, each once.
fn read_cells(access: &OperandAccess, dist: &Distribution) -> Result<u64> {
    let volume = |region: &Region| region.volume().map(|cells| cells as u64);
    Ok(match &access.footprint {
        Some(footprint) => footprint.needs.iter().map(volume).sum::<std::result::Result<u64, _>>()?,
        None => (0..dist.parts()).map(|p| volume(&dist.owned(p))).sum::<std::result::Result<u64, _>>()?,
    })
}

fn per_part(dist: &Distribution, region: impl Fn(usize) -> Region) -> Result<Vec<u64>> {
    (0..dist.parts()).map(|part| Ok(region(part).volume()? as u64)).collect()
}

fn is_work(op: &Op) -> bool {
    !matches!(op, Op::Const(_) | Op::Argument(_) | Op::Coord(_) | Op::Load { .. })
}

impl OperandAccess {
    /// Of a box of one part's cells, those that need nothing of what is brought.
    fn untouched(&self, map: &Map, dist: &Distribution, part: usize, within: &Region) -> Region {
        let none = Region::from_fn(within.rank(), |d| (within.start()[d], within.start()[d]));
        match (&self.method, &self.footprint) {
            (AccessMethod::Local, _) => *within,
            (AccessMethod::Halo(_), Some(footprint)) => {
                let (lo, hi) = crate::array::bind::schedule::halo_margins(
                    map,
                    footprint,
                    &self.storage.dist,
                    &dist.owned(part),
                    part,
                );
                let owned = dist.owned(part);
                within.intersect(&Region::from_fn(owned.rank(), |d| {
                    let start = (owned.start()[d] + lo[d]).min(owned.stop()[d]);
                    (start, (owned.stop()[d] - hi[d]).max(start))
                }))
            }
            _ => none,
        }
    }
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
        for exchange in &self.exchanges {
            writeln!(f, "{exchange}")?;
        }
        write!(
            f,
            "kernel {} on {busy} parts ({}): {} bytes read, {} written, {} operations",
            self.name,
            self.layout,
            self.read_bytes,
            self.written_bytes,
            self.operations * cells,
        )?;
        if !self.exchanges.is_empty() {
            let core: u64 = self.core.iter().sum();
            write!(f, "\n  {core} of {cells} cells need nothing of what travels between ranks or devices")?;
        }
        Ok(())
    }
}

impl fmt::Display for ExchangeStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_LINES: usize = 32;
        let between = || self.links.iter().filter(|link| link.from_part != link.to_part);
        write!(
            f,
            "plan {} of {}: {} bytes over {} links",
            self.what,
            self.operand,
            self.bytes(),
            between().count()
        )?;
        for link in between().take(MOST_LINES) {
            let bytes = link.elements * self.element_bytes;
            write!(f, "\n  {} -> {}: {bytes} bytes", link.from_part, link.to_part)?;
        }
        match between().count().saturating_sub(MOST_LINES) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more links"),
        }
    }
}
