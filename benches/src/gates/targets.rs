//! The GPUs that kernels are judged for: every constant of the prediction, with its source.
//!
//! **Predicted, not measured.** These are the only numbers to change when hardware has been measured; the
//! formula that uses them is in `predict.rs`.
//!
//! Sources. *Copy*: the best device-to-device copy. H200: 4.3 TB/s, measured by PyTorch's `copy_` on an H200
//! SXM
//! (0.896 of 4.8 TB/s). A100 80 GB: 1.76 TB/s, triad in te42kyfo/gpu-benches `gpu-stream/a100_80.txt`. RTX
//! 4090: 0.92 of its 1.008 TB/s, the share that `gpu-stream/l40.txt` shows on Ada. B200: 0.90 of its 8 TB/s,
//! assumed. *Latency*: how long one round trip to memory takes when many are under way. Fitted to the same
//! project's `gpu-stream` tables, which measure one double per thread at every occupancy: achieved / best =
//! x / sqrt(x^2 + n^2) for x bytes moved per round of resident threads gives n = 16.2 KiB (reads alone) and
//! 22 KiB (with writes) of 3.89 TB/s over 132 multiprocessors, that is 563 and 785 ns, within 0.02 at
//! occupancies
//! of 0.25, 0.5 and 1. A100: 11 KiB both, 647 and 699 ns. L40: 2.5 KiB, 430 and 454 ns. B200: as H200,
//! assumed.
//! *L1*: 128 bytes per clock and multiprocessor (CUDA C++ Programming Guide; `gpu-cache`). *L2*:
//! `gpu-l2-cache`
//! at 12 to 24 MiB: h200 9.7, a100_80 5.4, l40 5.2 TB/s, by multiprocessor and clock; B200 as H200, assumed.
//! *Kept*: half of L2's 40, 72, 50 and 126 MB (data sheets), since streams pass through it. *Hits*: `gpu-
//! latency` in cycles, L1 and L2: h100_pcie 34 and 265, a100_80 36 and
//! 211, l40 36 and 276; B200 assumed. *Rates* of the pipes: CUDA C++ Programming
//! Guide, throughput of native arithmetic instructions, by compute capability, in lanes per clock and
//! multiprocessor. *Resident* threads, blocks, registers, shared memory: the same guide, technical
//! specifications. *Needed*: bytes in flight that NVIDIA's CUB asks for (`cc_to_min_bytes_in_flight` in
//! `cub/device/dispatch/tuning/tuning_transform.cuh`): printed beside ours, not part of the formula.

/// A GPU.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// As on the command line.
    pub name: &'static str,
    /// The product whose numbers these are.
    pub product: &'static str,
    /// Compute capability times ten.
    pub sm: u32,
    pub multiprocessors: u32,
    pub clock_ghz: f64,
    /// The best copy, read and written, in TB/s.
    pub copy_tb_s: f64,
    /// A round trip to memory under load, in ns: of kernels that only read, and of others.
    pub latency_ns: [f64; 2],
    /// Cycles of a hit in L1, and of one in L2.
    pub hit_cycles: [f64; 2],
    /// Bytes per clock and multiprocessor out of L2.
    pub l2_bytes: f64,
    /// Bytes that L2 keeps for all multiprocessors while others pass through it: half of it.
    pub l2_kept: f64,
    pub threads: u32,
    pub blocks: u32,
    /// Bytes of shared memory for blocks.
    pub shared: u32,
    /// Bytes in flight per multiprocessor that CUB asks for.
    pub needed: u32,
    pub rates: Rates,
}

/// Lanes per clock and multiprocessor of each kind of instruction.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// f32 arithmetic.
    pub single: f64,
    /// f64 arithmetic.
    pub double: f64,
    /// Pairs of f16 or bf16.
    pub half: f64,
    /// Integer, logic, comparison, selection.
    pub integer: f64,
    /// exp2, log2, reciprocal, root.
    pub special: f64,
    /// Conversions between types.
    pub convert: f64,
    /// Loads, stores and shuffles.
    pub access: f64,
}

/// Registers of a multiprocessor, and in what pieces a warp takes them.
pub const REGISTERS: u32 = 65_536;
pub const REGISTERS_OF_A_WARP: u32 = 256;
/// Instructions that a multiprocessor issues per clock: one in each of four quarters.
pub const ISSUES: f64 = 4.0;
/// Cycles of shared memory, of a shuffle, of a special function, and of anything else with a scoreboard.
pub const SHARED_CYCLES: f64 = 29.0;
pub const SHUFFLE_CYCLES: f64 = 24.0;
pub const SPECIAL_CYCLES: f64 = 22.0;
pub const OTHER_CYCLES: f64 = 30.0;

const HOPPER: Rates = Rates {
    single: 128.0,
    double: 64.0,
    half: 256.0,
    integer: 64.0,
    special: 16.0,
    convert: 64.0,
    access: 32.0,
};

pub const TARGETS: &[Target] = &[
    Target {
        name: "sm_80",
        product: "A100 80 GB",
        sm: 80,
        multiprocessors: 108,
        clock_ghz: 1.41,
        copy_tb_s: 1.76,
        latency_ns: [647.0, 699.0],
        hit_cycles: [36.0, 211.0],
        l2_bytes: 35.5,
        l2_kept: 20e6,
        threads: 2048,
        blocks: 32,
        shared: 163 << 10,
        needed: 16 << 10,
        rates: Rates { single: 64.0, double: 32.0, ..HOPPER },
    },
    Target {
        name: "sm_89",
        product: "RTX 4090",
        sm: 89,
        multiprocessors: 128,
        clock_ghz: 2.52,
        copy_tb_s: 0.93,
        latency_ns: [430.0, 454.0],
        hit_cycles: [36.0, 276.0],
        l2_bytes: 14.7,
        l2_kept: 36e6,
        threads: 1536,
        blocks: 24,
        shared: 99 << 10,
        needed: 4 << 10,
        rates: Rates { double: 2.0, half: 128.0, ..HOPPER },
    },
    Target {
        name: "sm_90",
        product: "H200",
        sm: 90,
        multiprocessors: 132,
        clock_ghz: 1.755,
        copy_tb_s: 4.3,
        latency_ns: [563.0, 785.0],
        hit_cycles: [34.0, 265.0],
        l2_bytes: 41.9,
        l2_kept: 25e6,
        threads: 2048,
        blocks: 32,
        shared: 227 << 10,
        needed: 48 << 10,
        rates: HOPPER,
    },
    Target {
        name: "sm_100",
        product: "B200",
        sm: 100,
        multiprocessors: 148,
        clock_ghz: 1.85,
        copy_tb_s: 7.2,
        latency_ns: [563.0, 785.0],
        hit_cycles: [36.0, 265.0],
        l2_bytes: 41.9,
        l2_kept: 63e6,
        threads: 2048,
        blocks: 32,
        shared: 227 << 10,
        needed: 64 << 10,
        rates: HOPPER,
    },
];

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Bytes that memory moves per clock and multiprocessor at the speed of the copy.
    pub fn dram_bytes(&self) -> f64 {
        self.copy_tb_s * 1e3 / self.clock_ghz / f64::from(self.multiprocessors)
    }

    /// Cycles of a round trip to memory, for kernels that only read, or others.
    pub fn latency(&self, writes: bool) -> f64 {
        self.latency_ns[usize::from(writes)] * self.clock_ghz
    }

    /// Blocks that run side by side on a multiprocessor.
    pub fn resident(&self, threads: u32, registers: u32, shared: u32) -> u32 {
        let warps = threads.div_ceil(32);
        let of_a_warp = (registers * 32).next_multiple_of(REGISTERS_OF_A_WARP).max(1);
        // Warps are dealt to the quarters, each with a quarter of the registers.
        let by_registers = REGISTERS / 4 / of_a_warp * 4 / warps;
        // A block takes 1 KiB more than it asks for on sm_80 and later.
        let by_shared = self.shared / (shared + 1024);
        (self.threads / 32 / warps).min(by_registers).min(by_shared).min(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_the_one_of_the_occupancy_calculator() {
        let h200 = Target::named("sm_90").expect("in the table");
        assert_eq!([32, 40, 64, 74, 80, 128, 172].map(|r| h200.resident(256, r, 0)), [8, 6, 4, 3, 3, 2, 1]);
        assert_eq!(Target::named("sm_89").expect("in the table").resident(256, 32, 0), 6);
        assert_eq!(h200.resident(256, 32, 48 << 10), 4);
    }

    /// What `gpu-stream/h200.txt` measured: one double per thread, 2048 threads per multiprocessor.
    #[test]
    fn the_formula_gives_what_was_measured() {
        let h200 = Target::named("sm_90").expect("in the table");
        // That machine's memory moves 3.89 TB/s.
        let dram = 3.89e3 / h200.clock_ghz / 132.0;
        let fraction = |threads: f64, bytes: f64, writes: bool| {
            let moved = threads * bytes / dram;
            moved / moved.hypot(h200.latency(writes))
        };
        for (given, measured) in [
            (fraction(2048.0, 8.0, false), 2756.0 / 3890.0),
            (fraction(1024.0, 8.0, false), 1707.0 / 3890.0),
            (fraction(2048.0, 16.0, true), 3165.0 / 3890.0),
            (fraction(1024.0, 16.0, true), 2263.0 / 3890.0),
            (fraction(1024.0, 24.0, true), 2919.0 / 3890.0),
        ] {
            assert!((given - measured).abs() < 0.03, "{given:.3}, measured {measured:.3}");
        }
    }
}
