//! Every variable of the environment whose name begins with `PARTITA_`: what it accepts and what it means.
//! docs/environment.md and CONTRIBUTING.md show these rows; a test compares them, and searches the repository
//! for names that are not listed.

/// One variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its whole name.
    pub name: &'static str,
    /// The accepted values, in words.
    pub accepts: &'static str,
    /// Its effect, with its default.
    pub meaning: &'static str,
    /// Who reads it.
    pub audience: Audience,
}

/// Who reads a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Audience {
    /// The engine, for users: [`super::Config`].
    Users,
    /// The project's own tests, benchmarks and chores.
    Developers,
}

const fn user(name: &'static str, accepts: &'static str, meaning: &'static str) -> Variable {
    Variable { name, accepts, meaning, audience: Audience::Users }
}

const fn developer(name: &'static str, accepts: &'static str, meaning: &'static str) -> Variable {
    Variable { name, accepts, meaning, audience: Audience::Developers }
}

const SWITCH: &str = "1, true, on or yes; 0, false, off or no";
const SIZE: &str = "a size, such as 65536, 512KiB, 2MiB or 1GB (powers of 1024)";
const SEEDS: &str = "FIRST..LAST";

/// All variables. Any other name behind `PARTITA_` is an error.
pub const VARIABLES: &[Variable] = &[
    user(
        "PARTITA_DEVICE",
        "auto, host, cuda or wgpu",
        "devices of `Team::local`, `Team::world` and `pt.Team`; auto (default): CUDA devices, else hardware \
         adapters, else the host",
    ),
    user(
        "PARTITA_PARTS",
        "a whole number from 1 to 1048576",
        "parts of arrays in Python that name neither team nor distribution; default: one per device",
    ),
    user(
        "PARTITA_THREADS",
        "a whole number from 1 to 4096",
        "host threads; default: all the process may use",
    ),
    user(
        "PARTITA_BUDGET_MB",
        "a size, such as 512 (MiB), 800MB or 2GiB (powers of 1024)",
        "most memory that arrays may hold on each device; default: no budget",
    ),
    user(
        "PARTITA_DEBUG",
        "a whole number from 0 to 4",
        "print 1: launches, 2: also kernels, with registers and spills as CUDA's compiler says, 3: also \
         their PTX and WGSL, 4: also plans and exchanges; default 0",
    ),
    user(
        "PARTITA_CHECK",
        SWITCH,
        "repeat every launch on the interpreter and compare: a device that wrote something else is an error \
         that names kernel, element and both values. Slow; default 0",
    ),
    user(
        "PARTITA_PROGRAM_BYTES",
        SIZE,
        "memory of compiled kernels on each device, about: beyond it the least recently used are forgotten; \
         default 256MiB",
    ),
    user(
        "PARTITA_TRACE",
        "a file",
        "write what ran when, for Perfetto (ui.perfetto.dev); under `mpirun` one file per rank. Prints at \
         the end which fraction of the communication time was overlapped with computation",
    ),
    user(
        "PARTITA_DEADLINE_SECONDS",
        "a time above 0, such as 30, 30s, 1m or 500ms",
        "how long one rank waits for another; default 30s",
    ),
    user(
        "PARTITA_ADDRESS",
        "HOST:PORT, or a file's path",
        "how ranks find each other without MPI: where rank 0 listens, or a file that it writes in a folder \
         of the user alone; default, on one machine: a file named after the job",
    ),
    user(
        "PARTITA_SECRET",
        "a text",
        "what ranks must know to connect to each other; needed where PARTITA_ADDRESS is beyond this machine",
    ),
    user(
        "PARTITA_MPI",
        "auto, off, or the file of a library",
        "which MPI library connects ranks that `mpirun` started; auto (default): one of the launcher's \
         family, where found; without one, TCP does",
    ),
    user(
        "PARTITA_MPI_MAX_BYTES",
        "a size from 1 to 1GiB, such as 65536 or 1MiB",
        "longest message passed to MPI; longer ones are split; default 1GiB",
    ),
    user(
        "PARTITA_CUDA_AWARE_MPI",
        SWITCH,
        "whether MPI gets device pointers; default: if the MPI library says that it takes them",
    ),
    user(
        "PARTITA_NCCL",
        "auto, off, or the file of a library",
        "which NCCL carries messages between GPUs of ranks that do not open each other's memory; auto \
         (default): one that the process has loaded, PyPI's, that of CUDA_HOME, or the system's, where found",
    ),
    user("PARTITA_CUDA_IPC", SWITCH, "whether ranks of one machine open each other's CUDA memory; default 1"),
    user(
        "PARTITA_WGPU_VISIBLE",
        SWITCH,
        "whether an adapter's memory is mapped into the process where both have one memory; default 1",
    ),
    user(
        "PARTITA_HOST_CODE",
        "avx512, avx2 or off",
        "ISA level of kernels compiled to machine code on the host; results are bitwise identical at every \
         level; an error if the CPU lacks it; off: compiled loops over rows; default: the highest level of \
         the CPU",
    ),
    user(
        "PARTITA_TILE_BYTES",
        SIZE,
        "tile size of several steps of a `Loop` on the host (temporal blocking); default 3MiB",
    ),
    user(
        "PARTITA_PADDING",
        "a whole number from 0 to 10000",
        "percent of a row that may be added so that rows of arrays begin at multiples of 16 bytes; 0: arrays \
         in C order without gaps; default 6",
    ),
    developer(
        "PARTITA_FAULT",
        "RANK:POINT:PASSES:KIND, with a POINT of wire::POINTS and KIND error, panic, kill, stop or hang",
        "a fault on purpose on one rank, after so many passes of a point",
    ),
    developer("PARTITA_FAULT_STRIDE", "a count", "`--test sockets` tries one point of so many; 1: all"),
    developer(
        "PARTITA_SOAK",
        "a count",
        "how often tests of forks, strangers, nonsense and slices repeat their cases",
    ),
    developer("PARTITA_TEST_DEVICES", "host, wgpu or cuda", "kinds of devices that tests use"),
    developer("PARTITA_TEST_MPI", "deny, refuse or garble", "how the test's CUDA-aware MPI misbehaves"),
    developer("PARTITA_TEST_MEMORY", "set by tests", "shared memory that a test passes to its other process"),
    developer("PARTITA_TEST_EVENT", "set by tests", "an event that a test passes to its other process"),
    developer("PARTITA_TEST_WITHOUT", "set by tests", "which wait a test leaves out in its other process"),
    developer(
        "PARTITA_WGPU_FLUSH",
        SWITCH,
        "whether kernels for adapters flush subnormals of f32, as some drivers do",
    ),
    developer("PARTITA_FUZZ_SEEDS", SEEDS, "seeds of `--test fuzz`"),
    developer("PARTITA_LOOP_SEEDS", SEEDS, "seeds of `--test loops`"),
    developer("PARTITA_VIEW_SEEDS", "a count", "random views of `--test views`"),
    developer(
        "PARTITA_DOMAIN_PROGRAMS",
        "a count",
        "random programs of `--test domain_arrays` and `test_domains.py`",
    ),
    developer("PARTITA_X86_SEEDS", "a count", "random kernels of `--test x86`"),
    developer("PARTITA_PROGRAMS", "FIRST:COUNT", "seeds of the random NumPy programs"),
    developer("PARTITA_SPEED", "a kernel", "the one kernel that the CPU engine's speed test measures"),
    developer("PARTITA_PEERS", "a Python", "the Python with the benchmark's peers"),
    developer("PARTITA_PTXAS", "a program", "NVIDIA's PTX assembler"),
    developer(
        "PARTITA_PLANES",
        "WORDS,LOADS, whole numbers from 1 to 1024",
        "limits of stencils as plain vectors (88,11)",
    ),
    developer("PARTITA_SIM_DEVICES", "1 to 8", "devices of the simulated CUDA driver"),
    developer("PARTITA_SIM_MEMORY_BYTES", "bytes", "memory of each simulated device"),
    developer("PARTITA_SIM_SEED", "a number", "order of execution of the simulated driver"),
    developer("PARTITA_SIM_SM", "75, 80, 86, 89, 90 or 100", "compute capability of simulated devices"),
    developer("PARTITA_SIM_CUDA", "MAJOR.MINOR", "CUDA version of the simulated driver"),
    developer("PARTITA_SIM_FAIL", "SYMBOL:N:HOW,...", "calls of the simulated driver that fail"),
    developer("PARTITA_SIM_LOG", "a file", "where the simulated driver explains faults"),
    developer("PARTITA_SIM_MULTIPROCESSORS", "a number", "multiprocessors of each simulated device"),
    developer(
        "PARTITA_SIM_RECORD",
        "a folder",
        "where the simulated driver records launches instead of running them",
    ),
    developer("PARTITA_SIM_TRACE", "0 or 1", "print every call of the simulated driver"),
];

/// The points of `PARTITA_FAULT`, in the order in which a step usually passes them.
pub const POINTS: &[&str] = &[
    "team",
    "begin-collective",
    "agree-begin",
    "agree-sent",
    "agree-received",
    "agree-done",
    "post-receive",
    "send",
    "send-filled",
    "send-posted",
    "receive",
    "receive-arrived",
    "receive-placed",
    "wait-all",
    "eval",
    "eval-lowered",
    "launch",
    "eval-queued",
    "assign",
    "step",
    "exchange-queued",
    "read",
    "read-packed",
    "read-done",
    "loop-record",
    "loop-replay",
];

/// The known name that was probably meant: one with few letters changed, or one that begins so.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let near = |known: &&str| distance(name, known) <= 2 || known.starts_with(&format!("{name}_"));
    VARIABLES.iter().map(|variable| variable.name).filter(near).min_by_key(|known| distance(name, known))
}

/// Letters to insert, delete or replace to make one word of the other (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, other) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
