//! Streams: made, waited for, asked, captured.

use super::super::abi::{Code, EVENT_EXTERNAL, HandleKind, Opaque, STREAM_NON_BLOCKING, handle};
use super::super::state::{Driver, StreamOrder, place};
use super::{Out, current, exports, not_simulated};
use crate::driver::work::{CaptureMode, HostFn, THREAD_MODE, Work};

/// The lowest number of a priority, which is the greatest priority.
pub const GREATEST_PRIORITY: i32 = -5;

exports! {
    fn cuStreamCreate(out: Out<Opaque>, flags: u32) Current,
    |driver, device| { create(driver, device, out, flags, 0) }

    fn cuStreamCreateWithPriority(out: Out<Opaque>, flags: u32, priority: i32) Current, |driver, device| {
        create(driver, device, out, flags, priority.clamp(GREATEST_PRIORITY, 0))
    }

    fn cuStreamDestroy_v2(stream: Opaque) Init, |driver, _device| {
        let stream = named(driver, stream)?;
        driver.refuse_captured_stream(stream, "cuStreamDestroy")?;
        // What is queued still runs, as on hardware, when something waits for it.
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
        driver.drift();
        driver.healthy(driver.streams[stream].device)?;
        let clock = driver.end_of(stream);
        if !driver.reached(&clock) {
            return Err(Code::NOT_READY);
        }
        driver.host.join(&clock);
        Ok(())
    }

    fn cuStreamWaitEvent(stream: Opaque, event: Opaque, flags: u32) Init, |driver, _device| {
        match flags {
            0 => {}
            EVENT_EXTERNAL => return Err(not_simulated(driver, "an external event wait")),
            _ => return Err(Code::INVALID_VALUE),
        }
        let stream = driver.stream(stream, current())?;
        let event = driver.event(event)?;
        driver.wait_event(stream, event)
    }

    fn cuStreamGetCtx(stream: Opaque, out: Out<Opaque>) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        out.put(handle(HandleKind::Primary, driver.streams[stream].device))
    }

    fn cuStreamGetFlags(stream: Opaque, out: Out<u32>) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        out.put(driver.streams[stream].flags)
    }

    fn cuStreamGetPriority(stream: Opaque, out: Out<i32>) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        out.put(driver.streams[stream].priority)
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
        out.put(capture_status(driver, stream).0)
    }

    fn cuStreamGetCaptureInfo_v2(
        stream: Opaque, status: Out<u32>, id: Out<u64>, graph: Out<Opaque>, after: Out<*const Opaque>,
        count: Out<usize>,
    ) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        let (number, capture) = capture_status(driver, stream);
        status.put(number)?;
        id.offer(capture.map_or(0, |capture| capture as u64 + 1));
        if graph.asked() || after.asked() || count.asked() {
            return Err(not_simulated(driver, "the graph of a capture in progress"));
        }
        Ok(())
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) Init, |_driver, _device| {
        let new = CaptureMode::of(mode.get()?)?;
        mode.put(THREAD_MODE.replace(new) as u32)
    }

    fn cuLaunchHostFunc(stream: Opaque, function: Option<HostFn>, data: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        let function = function.ok_or(Code::INVALID_VALUE)?;
        driver.submit(stream, "host function".to_owned(), Work::Host { function, data: data as usize })
    }
}

fn create(
    driver: &mut Driver,
    device: usize,
    out: Out<Opaque>,
    flags: u32,
    priority: i32,
) -> Result<(), Code> {
    let order = match flags {
        0 => StreamOrder::Blocking,
        STREAM_NON_BLOCKING => StreamOrder::NonBlocking,
        _ => return Err(Code::INVALID_VALUE),
    };
    let stream = driver.add_stream(device, order, flags, priority);
    out.put(handle(HandleKind::Stream, stream))
}

/// A stream that is not one of the default streams.
fn named(driver: &mut Driver, stream: Opaque) -> Result<usize, Code> {
    match stream as usize {
        0..=2 => Err(Code::INVALID_HANDLE),
        _ => driver.stream(stream, None),
    }
}

/// `CUstreamCaptureStatus`, and the capture.
fn capture_status(driver: &Driver, stream: usize) -> (u32, Option<usize>) {
    match &driver.streams[stream].capture {
        None => (0, None),
        Some(membership) if driver.valid_capture(membership.capture).is_ok() => (1, Some(membership.capture)),
        Some(membership) => (2, Some(membership.capture)),
    }
}
