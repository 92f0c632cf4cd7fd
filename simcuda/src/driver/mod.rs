//! The CUDA driver's C interface over simulated devices. Built as a `cdylib` and put on the library path as
//! `libcuda.so.1` (and `libcuda.so`, which some loaders try first), it lets code written for the driver run
//! without a GPU, and fail where a GPU would merely be lucky.
//!
//! **Order.** Streams are queues and nothing runs when it is queued. Work runs only while some call must
//! wait, in a seeded order among what stream order, events and the default stream's rules allow. Vector
//! clocks record those same rules: two operations that use the same bytes (one of them writing) without being
//! ordered are a fault under every seed, whatever order they ran in. Memory used beside its release is a
//! race of the same kind.
//!
//! **Faults** stay: every later call on the device returns the code (a race returns
//! `CUDA_ERROR_LAUNCH_FAILED`); the explanation goes to stderr once and to the log file. A lost device
//! returns `CUDA_ERROR_DEVICE_UNAVAILABLE`. A call in a forked process is a fault of that process.
//!
//! **Stricter than hardware:** pageable memory cannot be captured; a captured stream cannot
//! wait for an event recorded outside; pinned memory must not be freed while queued copies use it; bytes that
//! nobody wrote cannot be copied to the host; handles and addresses are never used twice. **Not seen:** what
//! the host does with pinned memory (it shows as wrong data, because copies read it when they run); order
//! between host threads (a wait in one counts for all); races with other processes, which share memory
//! between operations. The record of a shared event completes before its call returns. Stream memory
//! operations: `run/words.rs`. **Not there:** kernels
//! that use host memory, managed memory, arrays and textures, virtual memory management, contexts other than
//! the primary. A symbol that is not exported is missing, as `dlsym` says; a feature that is not simulated
//! prints a line and returns `CUDA_ERROR_NOT_SUPPORTED`.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `PARTITA_SIM_DEVICES` | number of devices, 1 to 8 | 1 |
//! | `PARTITA_SIM_MEMORY_BYTES` | memory of each device | 2 GiB |
//! | `PARTITA_SIM_SEED` | of the order of execution; seed mod 3: 0 lazy, 1 mixed, 2 eager | 0 |
//! | `PARTITA_SIM_SM` | compute capability times ten: 75, 80, 86, 89, 90, 100 | 90 |
//! | `PARTITA_SIM_CUDA` | CUDA version of the driver | 13.0 |
//! | `PARTITA_SIM_FAIL` | `symbol:n:how,...`: the n-th call (from 1) of a symbol fails | none |
//! | `PARTITA_SIM_LOG` | file to which explanations of faults are appended | none |
//! | `PARTITA_SIM_MULTIPROCESSORS` | multiprocessors of each device | 4 |
//! | `PARTITA_SIM_RECORD` | folder: launches are written there and not run; see `record.rs` | none |
//! | `PARTITA_SIM_TRACE` | print every call to stderr | off |
//!
//! In `PARTITA_SIM_FAIL`, `how` is `lost` or the end of a `CUDA_ERROR_` name in small letters, as in
//! `cuMemAlloc_v2:3:out_of_memory,cuLaunchKernel:10:launch_failed,cuStreamSynchronize:2:lost`.

mod abi;
mod calls;
mod config;
mod exchange;
mod memory;
mod order;
mod queue;
mod record;
mod run;
mod state;
mod work;
