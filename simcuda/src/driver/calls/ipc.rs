//! Memory and events of other processes. The record of a shared event completes before its call returns,
//! because nobody would run this process's streams while another process waits; so a foreign record has
//! nothing to wait for.

use super::super::abi::{
    Code, DevicePtr, EVENT_DISABLE_TIMING, EVENT_INTERPROCESS, HandleKind, Opaque, handle,
};
use super::super::state::{Event, Record, place};
use super::{Out, exports};
use crate::driver::memory::{AddressOwner, Handle, Origin, Ticket};
use crate::driver::work::Work;

const MEMORY: &[u8; 8] = b"sim mem\0";
const EVENT: &[u8; 8] = b"sim evt\0";
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the only flag, which must be given.
const LAZY_PEER_ACCESS: u32 = 1;

exports! {
    fn cuIpcGetMemHandle(out: Out<Handle>, address: DevicePtr) Current, |driver, _device| {
        let block = match driver.memory.find(address) {
            // The handle is the whole allocation's, wherever in it the address is: Open MPI relies on that.
            AddressOwner::Device(block) if block.origin == Origin::Plain => block,
            AddressOwner::Device(_) | AddressOwner::Pinned(_) | AddressOwner::Unknown => {
                driver.report.line("only memory from cuMemAlloc can be shared");
                return Err(Code::INVALID_VALUE);
            }
        };
        // What is queued must not be missing in what others see first.
        driver.wait_device(block.device);
        driver.healthy(block.device)?;
        let ticket = driver.exchange.export(&driver.memory, block).map_err(|error| {
            driver.report.line(&format!("memory cannot be shared: {error}"));
            Code::OPERATING_SYSTEM
        })?;
        out.put(ticket.handle(MEMORY))
    }

    fn cuIpcOpenMemHandle_v2(out: Out<DevicePtr>, shared: Handle, flags: u32) Current, |driver, device| {
        let ticket = Ticket::read(shared, MEMORY)?;
        if flags != LAZY_PEER_ACCESS {
            return Err(Code::INVALID_VALUE);
        }
        if ticket.process == std::process::id() {
            driver.report.line("a process cannot open memory that it exported itself");
            return Err(Code::INVALID_CONTEXT);
        }
        let address = match driver.exchange.reopen(ticket) {
            Some(address) => address,
            None => driver.exchange.open(&mut driver.memory, ticket, device)?,
        };
        out.put(address)
    }

    fn cuIpcCloseMemHandle(address: DevicePtr) Current, |driver, device| {
        if driver.exchange.close(address)? {
            driver.wait_device(device);
            let legacy = driver.legacy(device);
            driver.push(legacy, "cuIpcCloseMemHandle".to_owned(), Work::Release { address });
            let clock = driver.end_of(legacy);
            driver.wait(&clock);
        }
        driver.healthy(device)
    }

    fn cuIpcGetEventHandle(out: Out<Handle>, event: Opaque) Init, |driver, _device| {
        let event = driver.event(event)?;
        if driver.event_of(event).flags & EVENT_INTERPROCESS == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let ticket = Ticket { process: std::process::id(), numbers: [event as u64, 0, 0] };
        out.put(ticket.handle(EVENT))
    }

    fn cuIpcOpenEventHandle(out: Out<Opaque>, shared: Handle) Current, |driver, device| {
        let ticket = Ticket::read(shared, EVENT)?;
        if ticket.process == std::process::id() {
            driver.report.line("a process cannot open an event that it exported itself");
            return Err(Code::INVALID_CONTEXT);
        }
        let flags = EVENT_INTERPROCESS | EVENT_DISABLE_TIMING;
        let event = Event { device, flags, record: Record::Never, generation: 0, time: None };
        out.put(handle(HandleKind::Event, place(&mut driver.events, event)))
    }
}
