//! Kernels on the simulated GPU against the interpreter, bit for bit (any NaN equals any NaN).

use std::collections::BTreeSet;

use partita_kernels::ptx::{Facts, Module, PtxTarget, Span, emit};
use partita_kernels::{Access, Form, Launch, Verified};
use simcuda::{Fault, Machine};

use crate::agreement::{self, Arrays, difference};

/// Branches of a block before its kernel counts as endless: more than any launch of these tests takes.
const BRANCH_LIMIT: u64 = 1 << 24;

/// How a launch is run.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub target: PtxTarget,
    /// Grids are limited to a few blocks, so that regions are cut.
    pub shrunk: bool,
    /// Elements between a multiple of 256 bytes and the first of parameter `p`: `(p + 1) * shift`.
    pub shift: usize,
    /// Equal inputs are one array.
    pub aliased: bool,
    /// Of the device that is launched on.
    pub multiprocessors: u32,
}

impl Setting {
    pub const PLAIN: Setting =
        Setting { target: PtxTarget { sm: 80 }, shrunk: false, shift: 0, aliased: false, multiprocessors: 4 };
}

/// What the definition makes of a reduction, and the host of any other launch.
pub fn on_host(kernel: &Verified, launch: &Launch, arrays: &Arrays) -> Arrays {
    if matches!(kernel.kernel().form, Form::Reduce { .. }) {
        return agreement::by_definition(kernel, launch, arrays);
    }
    agreement::on_host(kernel, launch, arrays)
}

/// A kernel for the simulated GPU, as text and as the simulator's program.
pub struct Compiled {
    pub module: Module,
    program: simcuda::ptx::Program,
}

impl Compiled {
    pub fn new(kernel: &Verified, setting: Setting) -> Compiled {
        let mut module = emit(kernel, &setting.target).unwrap();
        if setting.shrunk {
            module.shrink();
        }
        let text = module.whole_text();
        let program =
            simcuda::ptx::Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{}", numbered(&text)));
        Compiled { module, program }
    }

    /// The same launches of another text; none if the simulator refuses it.
    pub fn with_text(&mut self, text: &str) -> Option<()> {
        self.program = simcuda::ptx::Program::parse(text).ok()?;
        Some(())
    }

    /// What the simulated GPU makes of a launch, and which entries it ran.
    pub fn run(
        &self,
        kernel: &Verified,
        launch: &Launch,
        arrays: &Arrays,
        setting: Setting,
    ) -> Result<(Arrays, Vec<&'static str>), Fault> {
        let facts = Facts { multiprocessors: setting.multiprocessors };
        let mut machine = Machine::new(7);
        machine.set_branch_limit(BRANCH_LIMIT);
        let params = &kernel.kernel().params;
        let mut spans: Vec<Span> = Vec::new();
        for (p, (bytes, param)) in arrays.iter().zip(params).enumerate() {
            let is_same = |&other: &usize| params[other] == *param && arrays[other] == *bytes;
            let same = (0..p).filter(|_| setting.aliased && param.access == Access::In).find(is_same);
            spans.push(same.map(|other| spans[other]).unwrap_or_else(|| {
                let before = ((p + 1) * setting.shift * param.dtype.size_bytes()) as u64;
                let address = machine.alloc((before + bytes.len() as u64).max(1), 256) + before;
                machine.write(address, bytes).unwrap();
                Span { address, bytes: bytes.len() as u64 }
            }));
        }
        let plan = self.module.plan(launch, &spans, facts);
        let scratch = if plan.scratch_bytes > 0 { machine.alloc(plan.scratch_bytes, 256) } else { 0 };
        let mut entries = Vec::new();
        for grid in plan.grids(scratch) {
            let entry = &self.module.entries[grid.entry];
            let most = if setting.shrunk { 2 } else { 65535 };
            assert!(
                grid.grid.iter().all(|&n| n >= 1) && grid.grid[1..].iter().all(|&n| n <= most),
                "{}",
                entry.name
            );
            machine.give_shared(entry.shared);
            machine.run(&self.program, &entry.name, grid.grid, grid.block, &grid.params)?;
            entries.push(entry.kind);
        }
        let read = |span: &Span| {
            let mut bytes = vec![0; span.bytes as usize];
            machine.read(span.address, &mut bytes).unwrap();
            bytes
        };
        Ok((spans.iter().map(read).collect(), entries))
    }

    /// What the simulated GPU makes of many launches over boxes at once, and the entries of the grids.
    pub fn run_batch(
        &self,
        kernel: &Verified,
        boxes: &[(Launch, Arrays)],
        setting: Setting,
    ) -> Result<(Vec<Arrays>, Vec<&'static str>), Fault> {
        let facts = Facts { multiprocessors: setting.multiprocessors };
        let mut machine = Machine::new(7);
        machine.set_branch_limit(BRANCH_LIMIT);
        let mut place = |bytes: &Vec<u8>| {
            let address = machine.alloc((bytes.len() as u64).max(1), 256);
            machine.write(address, bytes).unwrap();
            Span { address, bytes: bytes.len() as u64 }
        };
        let spans: Vec<Vec<Span>> =
            boxes.iter().map(|(_, arrays)| arrays.iter().map(&mut place).collect()).collect();
        let lens = |spans: &[Span]| -> Vec<usize> {
            let params = &kernel.kernel().params;
            spans.iter().zip(params).map(|(s, p)| s.bytes as usize / p.dtype.size_bytes()).collect()
        };
        boxes.iter().zip(&spans).for_each(|((launch, _), spans)| kernel.check(launch, &lens(spans)).unwrap());
        let all: Vec<(&Launch, &[Span])> =
            boxes.iter().zip(&spans).map(|((launch, _), spans)| (launch, &spans[..])).collect();
        let each = all.iter().map(|(launch, spans)| self.module.plan(launch, spans, facts));
        let plan = self.module.plan_batch(&all).unwrap_or_else(|| self.module.together(each));
        let mut entries = Vec::new();
        for grid in plan.grids(0) {
            let (entry, text) = (self.module.entry_of(grid.entry), self.module.text(grid.entry));
            let program = simcuda::ptx::Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            machine.run(&program, &entry.name, grid.grid, grid.block, &grid.params)?;
            entries.push(entry.kind);
        }
        let read = |span: &Span| {
            let mut bytes = vec![0; span.bytes as usize];
            machine.read(span.address, &mut bytes).unwrap();
            bytes
        };
        Ok((spans.iter().map(|spans| spans.iter().map(read).collect()).collect(), entries))
    }
}

fn numbered(text: &str) -> String {
    text.lines().enumerate().map(|(n, line)| format!("{:4} {line}\n", n + 1)).collect()
}

/// Runs a launch both ways and compares; the entries that ran.
pub fn agree(kernel: &Verified, launch: &Launch, arrays: &Arrays, setting: Setting) -> Vec<&'static str> {
    agree_with(&on_host(kernel, launch, arrays), kernel, launch, arrays, setting)
}

fn agree_with(
    expected: &Arrays,
    kernel: &Verified,
    launch: &Launch,
    arrays: &Arrays,
    setting: Setting,
) -> Vec<&'static str> {
    let compiled = Compiled::new(kernel, setting);
    let (given, entries) = compiled
        .run(kernel, launch, arrays, setting)
        .unwrap_or_else(|fault| panic!("{fault}\n{launch:?}\n{}", numbered(&compiled.module.whole_text())));
    if let Some(difference) = difference(kernel, expected, &given) {
        panic!(
            "{difference}\n{setting:?} {entries:?}\n{launch:?}\n{}",
            numbered(&compiled.module.whole_text())
        );
    }
    entries
}

/// What a test has run, on a device of so many multiprocessors.
pub struct Tally {
    ran: usize,
    pub entries: BTreeSet<&'static str>,
    multiprocessors: u32,
}

impl Tally {
    pub fn on(multiprocessors: u32) -> Tally {
        Tally { ran: 0, entries: BTreeSet::new(), multiprocessors }
    }

    /// On whole grids with aligned arrays, with arrays that begin at odd elements, and on grids cut small.
    pub fn everywhere(&mut self, kernel: &Verified, launch: &Launch, arrays: &Arrays) {
        let target = PtxTarget { sm: 90 };
        let plain = Setting { target, multiprocessors: self.multiprocessors, ..Setting::PLAIN };
        let settings = [plain, Setting { shift: 1, ..plain }, Setting { shrunk: true, shift: 4, ..plain }];
        let expected = on_host(kernel, launch, arrays);
        for setting in settings {
            self.entries.extend(agree_with(&expected, kernel, launch, arrays, setting));
            self.ran += 1;
        }
    }

    /// The launches must have gone through these entries: otherwise the test does not test them.
    pub fn ran_through(&self, entries: &[&'static str]) {
        assert_eq!(self.entries, entries.iter().copied().collect());
        println!("ran: ptx-cases {}", self.ran);
    }
}

impl Default for Tally {
    fn default() -> Tally {
        Tally::on(Setting::PLAIN.multiprocessors)
    }
}
