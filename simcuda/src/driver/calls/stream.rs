//! Streams: made, waited for, captured. Events: recorded in streams, waited for, asked, timed.

use super::super::abi::{
    Code, EVENT_DISABLE_TIMING, EVENT_FLAGS, EVENT_INTERPROCESS, HandleKind, Opaque, Outcome,
    STREAM_NON_BLOCKING, handle,
};
use super::super::state::{Driver, Event, Record, StreamOrder, place};
use super::{Out, current, exports, not_simulated};
use crate::driver::order::Clock;
use crate::driver::queue::exchange_thread_mode;
use crate::driver::work::CaptureMode;

/// The lowest number of a priority, which is the greatest priority.
pub const GREATEST_PRIORITY: i32 = -5;

exports! {
    fn cuStreamCreate(out: Out<Opaque>, flags: u32) Current,
    |driver, device| { create(driver, device, out, flags) }

    fn cuStreamCreateWithPriority(out: Out<Opaque>, flags: u32, priority: i32) Current, |driver, device| {
        // Priorities change nothing that an order can rely on.
        let _ = priority;
        create(driver, device, out, flags)
    }

    fn cuStreamDestroy_v2(stream: Opaque) Init, |driver, _device| {
        let stream = named(driver, stream)?;
        driver.refuse_captured_stream(stream, "cuStreamDestroy")?;
        // Queued work still runs, as on hardware, when something waits for it.
        driver.streams[stream].alive = false;
        Ok(())
    }

    fn cuStreamSynchronize(stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        driver.refuse_captured_stream(stream, "cuStreamSynchronize")?;
        driver.refuse_unsafe_in_capture("cuStreamSynchronize")?;
        let clock = driver.end_of(stream);
        driver.wait_healthy(&clock, driver.streams[stream].device)
    }

    fn cuStreamQuery(stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        driver.refuse_captured_stream(stream, "cuStreamQuery")?;
        driver.refuse_unsafe_in_capture("cuStreamQuery")?;
        let clock = driver.end_of(stream);
        driver.drift();
        driver.healthy(driver.streams[stream].device)?;
        if !driver.reached(&clock) {
            return Err(Code::NOT_READY);
        }
        driver.host.join(&clock);
        Ok(())
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) Init, |_driver, _device| {
        let before = exchange_thread_mode(CaptureMode::of(mode.at(0)?)?);
        mode.put(before as u32)
    }

    fn cuStreamWaitEvent(stream: Opaque, event: Opaque, flags: u32) Init, |driver, _device| {
        if flags != 0 {
            return Err(not_simulated(driver, "a wait with flags"));
        }
        let stream = driver.stream(stream, current())?;
        let event = driver.event(event)?;
        driver.wait_event(stream, event)
    }

    fn cuStreamBeginCapture_v2(stream: Opaque, mode: u32) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        driver.begin_capture(stream, CaptureMode::of(mode)?)
    }

    fn cuStreamEndCapture(stream: Opaque, out: Out<Opaque>) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        out.put(std::ptr::null_mut())?;
        let graph = driver.end_capture(stream)?;
        out.put(handle(HandleKind::Graph, place(&mut driver.graphs, graph)))
    }

    fn cuStreamIsCapturing(stream: Opaque, out: Out<u32>) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        // `CUstreamCaptureStatus`.
        out.put(match &driver.streams[stream].capture {
            None => 0,
            Some(membership) if driver.valid_capture(membership.capture).is_ok() => 1,
            Some(_) => 2,
        })
    }

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

fn elapsed(driver: &mut Driver, milliseconds: Out<f32>, start: Opaque, end: Opaque) -> Outcome {
    let (start, end) = (driver.event(start)?, driver.event(end)?);
    let time = |event: usize| {
        let event = driver.event_of(event);
        let is_timed = event.flags & EVENT_DISABLE_TIMING == 0;
        match (&event.record, event.time) {
            (Record::Work { .. }, _) if !is_timed => Err(Code::INVALID_HANDLE),
            (Record::Never, _) => Err(Code::INVALID_HANDLE),
            (Record::Captured { .. }, _) => Err(Code::CAPTURED_EVENT),
            (Record::Work { generation, .. }, Some((timed, time))) if *generation == timed => Ok(time),
            (Record::Work { .. }, _) => Err(Code::NOT_READY),
        }
    };
    let (start, end) = (time(start)?, time(end)?);
    milliseconds.put((end as f64 - start as f64) as f32 / 1e6)
}

fn create(driver: &mut Driver, device: usize, out: Out<Opaque>, flags: u32) -> Outcome {
    let order = match flags {
        0 => StreamOrder::Blocking,
        STREAM_NON_BLOCKING => StreamOrder::NonBlocking,
        _ => return Err(Code::INVALID_VALUE),
    };
    let stream = driver.add_stream(device, order);
    out.put(handle(HandleKind::Stream, stream))
}

/// A stream that is not one of the default streams.
fn named(driver: &mut Driver, stream: Opaque) -> Result<usize, Code> {
    match stream as usize {
        0..=2 => Err(Code::INVALID_HANDLE),
        _ => driver.stream(stream, None),
    }
}

/// The work that the last record covers, if there was one. Asking about a captured event breaks its capture.
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
