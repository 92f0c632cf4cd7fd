//! Stream memory operations on 64-bit words: waits and writes, alone and in batches. Beside the driver's:
//! `simcudaForeign`, by which the simulated NCCL queues its work.

use super::super::abi::{Code, DevicePtr, Opaque, Outcome};
use super::super::state::Driver;
use super::{Out, current, exports, not_simulated};
use crate::driver::run::run_without_calls;
use crate::driver::work::{Foreign, ForeignCalls, Work};

exports! {
    fn cuStreamWaitValue64_v2(stream: Opaque, address: DevicePtr, value: u64, flags: u32) Init,
    |driver, _device| {
        let stream = driver.stream(stream, current())?;
        submit(driver, stream, &[operation(driver, WAIT, address, value, flags)?])
    }

    fn cuStreamWriteValue64_v2(stream: Opaque, address: DevicePtr, value: u64, flags: u32) Init,
    |driver, _device| {
        let stream = driver.stream(stream, current())?;
        submit(driver, stream, &[operation(driver, WRITE, address, value, flags)?])
    }

    fn cuStreamBatchMemOp_v2(stream: Opaque, count: u32, params: Out<[u64; 6]>, flags: u32) Init,
    |driver, _device| {
        // As many as hardware takes.
        if flags != 0 || count >= 256 {
            return Err(Code::INVALID_VALUE);
        }
        let stream = driver.stream(stream, current())?;
        let one = |at: usize| {
            let [kind, address, value, flags, ..] = params.at(at)?;
            operation(driver, kind as u32, address, value, flags as u32)
        };
        let all = (0..count as usize).map(one).collect::<Result<Vec<Work>, Code>>()?;
        submit(driver, stream, &all)
    }

    fn simcudaForeign(
        stream: Opaque,
        reads: Out<[u64; 2]>,
        read_count: u32,
        writes: Out<[u64; 2]>,
        write_count: u32,
        calls: Out<ForeignCalls>,
    ) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        let all = |ranges: Out<[u64; 2]>, count: u32| -> Result<Vec<[u64; 2]>, Code> {
            (0..count as usize).map(|at| ranges.at(at)).collect()
        };
        let (reads, writes) = (all(reads, read_count)?, all(writes, write_count)?);
        let foreign = Foreign { reads, writes, calls: calls.get()? };
        run_without_calls();
        driver.submit_foreign(stream, foreign)
    }
}

/// `CU_STREAM_MEM_OP_WAIT_VALUE_64`.
const WAIT: u32 = 4;
/// `CU_STREAM_MEM_OP_WRITE_VALUE_64`.
const WRITE: u32 = 5;

/// One operation. Waits are for at least a value (`CU_STREAM_WAIT_VALUE_GEQ`), and a write comes after all
/// that its stream wrote before (`CU_STREAM_WRITE_VALUE_DEFAULT`).
fn operation(driver: &Driver, kind: u32, address: u64, value: u64, flags: u32) -> Result<Work, Code> {
    if !address.is_multiple_of(8) {
        return Err(Code::INVALID_VALUE);
    }
    driver.memory.within(address, 8)?;
    match (kind, flags) {
        (WAIT, 0) => Ok(Work::Await { address, value }),
        (WRITE, 0) => Ok(Work::Put { address, value }),
        _ => Err(not_simulated(driver, &format!("stream memory operation {kind} with flags {flags:#x}"))),
    }
}

fn submit(driver: &mut Driver, stream: usize, all: &[Work]) -> Outcome {
    run_without_calls();
    all.iter().try_for_each(|work| {
        let label = match work {
            Work::Await { value, .. } => format!("wait for a word to be {value}"),
            _ => "write of a word".to_owned(),
        };
        driver.submit(stream, label, work.clone())
    })
}
