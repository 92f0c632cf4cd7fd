//! Events: recorded in streams, waited for, asked, timed.

use super::super::abi::{
    Code, EVENT_DISABLE_TIMING, EVENT_EXTERNAL, EVENT_FLAGS, EVENT_INTERPROCESS, HandleKind, Opaque, Outcome,
    handle,
};
use super::super::state::{Driver, Event, Record, place};
use super::{Out, current, exports, not_simulated};
use crate::driver::work::Clock;

exports! {
    fn cuEventCreate(out: Out<Opaque>, flags: u32) Current, |driver, device| {
        let shared_with_times = flags & EVENT_INTERPROCESS != 0 && flags & EVENT_DISABLE_TIMING == 0;
        if flags & !EVENT_FLAGS != 0 || shared_with_times {
            return Err(Code::INVALID_VALUE);
        }
        let event = Event { device, flags, record: Record::Never, generation: 0, time: None };
        out.put(handle(HandleKind::Event, place(&mut driver.events, event)))
    }

    fn cuEventDestroy_v2(event: Opaque) Init, |driver, _device| {
        let event = driver.event(event)?;
        driver.events[event] = None;
        Ok(())
    }

    fn cuEventRecord(event: Opaque, stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        let event = driver.event(event)?;
        driver.record(event, stream)
    }

    fn cuEventRecordWithFlags(event: Opaque, stream: Opaque, flags: u32) Init, |driver, _device| {
        match flags {
            0 => {}
            EVENT_EXTERNAL => return Err(not_simulated(driver, "an external event record")),
            _ => return Err(Code::INVALID_VALUE),
        }
        let stream = driver.stream(stream, current())?;
        let event = driver.event(event)?;
        driver.record(event, stream)
    }

    fn cuEventQuery(event: Opaque) Init, |driver, _device| {
        let event = driver.event(event)?;
        let Some(clock) = recorded(driver, event, "cuEventQuery")? else { return Ok(()) };
        driver.drift();
        driver.healthy(driver.event_of(event).device)?;
        if !driver.reached(&clock) {
            return Err(Code::NOT_READY);
        }
        driver.host.join(&clock);
        Ok(())
    }

    fn cuEventSynchronize(event: Opaque) Init, |driver, _device| {
        let event = driver.event(event)?;
        match recorded(driver, event, "cuEventSynchronize")? {
            None => Ok(()),
            Some(clock) => driver.wait_healthy(&clock, driver.event_of(event).device),
        }
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: Opaque, end: Opaque) Init, |driver, _device| {
        elapsed(driver, milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Opaque, end: Opaque) Init, |driver, _device| {
        elapsed(driver, milliseconds, start, end)
    }
}

/// What the last record covers; nothing if there was none. Asking about a captured event breaks the capture.
fn recorded(driver: &mut Driver, event: usize, symbol: &str) -> Result<Option<Clock>, Code> {
    match driver.event_of(event).record.clone() {
        Record::Captured { capture, .. } => {
            driver.invalidate(capture, &format!("{symbol} was called on an event of it"));
            Err(Code::CAPTURED_EVENT)
        }
        Record::Never => driver.refuse_unsafe_in_capture(symbol).map(|()| None),
        Record::Work { clock, .. } => driver.refuse_unsafe_in_capture(symbol).map(|()| Some(clock)),
    }
}

fn elapsed(driver: &mut Driver, milliseconds: Out<f32>, start: Opaque, end: Opaque) -> Outcome {
    let (start, end) = (driver.event(start)?, driver.event(end)?);
    let time = |event: usize| {
        let event = driver.event_of(event);
        match (&event.record, event.time) {
            (Record::Work { .. }, _) if event.flags & EVENT_DISABLE_TIMING != 0 => Err(Code::INVALID_HANDLE),
            (Record::Never, _) => Err(Code::INVALID_HANDLE),
            (Record::Captured { .. }, _) => Err(Code::CAPTURED_EVENT),
            (Record::Work { generation, .. }, Some((timed, time))) if *generation == timed => Ok(time),
            (Record::Work { .. }, _) => Err(Code::NOT_READY),
        }
    };
    let (start, end) = (time(start)?, time(end)?);
    milliseconds.put((end as f64 - start as f64) as f32 / 1e6)
}
