//! Limits and tables of the tidy rules, as data. A change of the architecture is a change here, to be read
//! by a reviewer.

/// The widest line of a Rust file, as in `rustfmt.toml`, which leaves long strings and comments.
pub const MAX_WIDTH: usize = 110;
/// Above this many lines a file is noted, above the second it is a finding.
pub const LONG_FILE: usize = 500;
pub const TOO_LONG_FILE: usize = 800;

/// Files and subfolders per folder of the areas below.
pub const FILES_PER_FOLDER: usize = 12;

/// Lines of Rust and Python per area.
pub const BUDGETS: &[(&str, usize)] = &[
    ("kernels/src", 28_240),
    ("engine/src", 52_001),
    ("simcuda/src", 9_896),
    ("interop/src", 9_457),
    ("interop/python", 15_633),
    ("benches", 9_383),
    ("xtask", 5_300),
    ("examples", 3_483),
];
/// Lines of all areas together.
pub const TOTAL_BUDGET: usize = 133_366;

/// The folders of the crates, and of the example that is more than one file.
pub const CRATES: &[&str] = &[
    "kernels/src",
    "engine/src",
    "simcuda/src",
    "interop/src",
    "benches/src",
    "xtask/src",
    "examples/tsunami",
];

/// The folder of the Python package.
pub const PYTHON: &str = "interop/python";

/// Programs that show how little is needed: their longest length.
pub const SHORT_EXAMPLES: &[(&str, usize)] = &[
    ("examples/channel.rs", 60),
    ("examples/gray_scott.rs", 60),
    ("examples/heat.rs", 60),
    ("examples/own_map.rs", 120),
];

/// The one home of each dependency: no other file names it.
pub const HOMES: &[(&str, &[&str])] = &[
    (
        "mpi",
        // The crate's home; then what names our own module of that name.
        &[
            "engine/src/wire/mpi",
            "engine/src/team",
            "engine/tests/mpi.rs",
            "examples/two_halves.rs",
            "xtask/src",
            "benches/src/run/messages.rs",
        ],
    ),
    ("ash", &["engine/src/device/wgpu"]),
    ("cudarc", &["engine/src/device/cuda", "interop/src/foreign", "simcuda/tests"]),
    ("wgpu", &["engine/src/device/wgpu"]),
    ("pollster", &["engine/src/device/wgpu"]),
    ("dlpark", &["interop/"]),
    ("pyo3", &["interop/"]),
    ("crc32fast", &["engine/src/array/host/files"]),
    ("hmac", &["engine/src/wire/sockets"]),
    ("sha2", &["engine/src/wire/sockets"]),
    ("getrandom", &["engine/src/wire/sockets"]),
];

/// The modules of the engine that each module may use.
pub const ENGINE: &[(&str, &str)] = &[
    ("config", ""),
    ("index", ""),
    // Text of documentation.
    ("example", ""),
    // One error type for the crate: it names the errors of the layers, which name it in return.
    ("error", "config index plan device"),
    ("interrupt", "error"),
    ("plan", "config error index"),
    ("device", "config error interrupt index plan"),
    ("trace", "config error device"),
    ("wire", "config error interrupt device"),
    ("program", "config error trace index plan device wire"),
    ("team", "config error trace index plan device wire program"),
    ("transport", "config error trace index plan device wire program team"),
    ("array", "config error interrupt trace index plan device wire program team transport"),
    // Access by hand only. Commands queued by hand are recorded as those of arrays are.
    ("raw", "error array device program transport"),
    // Written with what arrays show to everybody.
    ("operators", "error index team array"),
    ("io", "config error trace index plan device wire program team transport array"),
];

/// The folders of the engine's arrays: each uses those before it.
pub const ARRAY_ORDER: &[&str] =
    &["memory", "record", "recorder", "lower", "bind", "run", "loops", "host", "collective"];

/// Folders of the engine whose modules the crate's root re-exports: each counts as a module of the root.
pub const ENGINE_GROUPS: &[&str] = &["process"];

/// Files of the engine that show everything it has, and so may use everything.
pub const ROOT_FILES: &[&str] = &["lib", "prelude"];

/// The files and folders that may hold unsafe code, each with its contract at its head.
pub const UNSAFE_FILES: &[&str] = &[
    "kernels/src/cpu",
    "kernels/tests/agreement",
    "engine/src/device",
    "engine/src/raw.rs",
    "engine/src/wire",
    // Shared with the benchmarks.
    "engine/tests/raw_access",
    "interop/src/foreign",
    "simcuda",
];

/// Files or folders that may hold unsafe code, at most.
pub const UNSAFE_PLACES: usize = 8;

/// Words of private idiom, what to say instead, and the folder in which the rule holds. Names are
/// taken apart into their words.
pub const BANNED: &[(&str, &str, &str)] = &[
    ("brought", "packed", ""),
    ("crew", "thread pool", ""),
    ("crews", "thread pools", ""),
    ("errand", "exchange id", ""),
    ("errands", "exchange ids", ""),
    ("aside", "on the communication stream, overlap; or temporary", ""),
    ("lane", "stream", "engine/src"),
    ("lanes", "streams", "engine/src"),
    ("teeth", "runs of a periodic interval set", ""),
    ("tooth", "run of a periodic interval set", ""),
    ("past the caches", "non-temporal stores", ""),
    ("third cache", "L3", ""),
    ("road", "transport", ""),
    ("roads", "transports", ""),
    ("cargo", "message", "engine/src"),
    ("carriage", "transfer", ""),
    ("leisure", "overlap capability", ""),
    ("patience", "deadline", ""),
    ("doze", "back-off", ""),
    ("news", "control message", ""),
    ("circle", "communicator", "engine/src/wire"),
    ("meet", "collective, synchronize", "engine/src/wire"),
    ("meeting", "collective signature, barrier", ""),
    ("meetings", "collective signatures, barriers", ""),
    ("goes round", "wraps around", ""),
    ("comes round", "wraps around", ""),
    ("come round", "wrap around", ""),
    ("what is read", "the operands", ""),
    ("asked for", "requested, prefetched", ""),
    ("settled", "resolved, loop-invariant", ""),
    ("wish", "request", ""),
    ("wishes", "requests", ""),
    ("told", "given, notified", ""),
    ("knows no", "say what it does", ""),
];
/// Files that must name those words.
pub const WORDS_EXEMPT: &[&str] = &["xtask/src/tidy/", "docs/GLOSSARY.md"];

/// Words that say nothing, or say it twice; not used in names of items.
pub const VAGUE_WORDS: &[&str] = &[
    "context", "contexts", "manager", "managers", "handler", "handlers", "helper", "helpers", "util",
    "utils", "ghost", "ghosts", "tensor", "tensors",
];

/// Marks of unfinished work.
pub const UNFINISHED: &[&str] = &["TODO", "FIXME", "XXX"];
