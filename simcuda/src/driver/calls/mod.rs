//! The exported symbols, by subject, and the one way into each: lock, count, injected failures, the current
//! device's errors. Panics end here, because they must not cross the C boundary.

mod copy;
mod device;
mod image;
mod launch;
mod memory;
mod stream;
mod words;

use super::abi::{Code, Outcome};
use super::config::{Config, Failure};
use super::state::Driver;
use crate::report::say;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use super::run::Turn;

thread_local! {
    /// The device whose primary context is current on this thread.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The state that a call needs before it begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing.
    Nothing,
    /// `cuInit`.
    Init,
    /// A current device, in order.
    Current,
}

/// The place for a result of a call.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> std::fmt::Debug for Out<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl<T> Out<T> {
    /// Puts the result there; nowhere is an error.
    fn put(self, value: T) -> Outcome {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: an `Out` exists only as argument of an exported function, whose caller promises that it is
        // valid.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Puts a result at a place of an array.
    fn put_at(self, place: usize, value: T) -> Outcome {
        // SAFETY: as in `put`, for an array that reaches to here; nowhere stays nowhere.
        if self.0.is_null() { Err(Code::INVALID_VALUE) } else { Out(unsafe { self.0.add(place) }).put(value) }
    }

    /// Puts the first bytes of a result there.
    fn put_bytes(self, bytes: &[u8]) -> Outcome {
        bytes.iter().enumerate().try_for_each(|(at, byte)| Out(self.0.cast::<u8>()).put_at(at, *byte))
    }

    /// The value there.
    fn get(self) -> Result<T, Code>
    where
        T: Copy,
    {
        // SAFETY: as in `put`; what a call reads there, its caller has written.
        if self.0.is_null() { Err(Code::INVALID_VALUE) } else { Ok(unsafe { self.0.read_unaligned() }) }
    }

    /// The value at a place of an array.
    fn at(self, place: usize) -> Result<T, Code>
    where
        T: Copy,
    {
        // SAFETY: as in `put_at`.
        if self.0.is_null() { Err(Code::INVALID_VALUE) } else { Out(unsafe { self.0.add(place) }).get() }
    }

    /// The bytes that begin there.
    fn bytes(self, count: usize) -> Result<Vec<u8>, Code> {
        (0..count).map(|at| Out(self.0.cast::<u8>()).at(at)).collect()
    }

    /// Whether the caller gave a place.
    fn asked(self) -> bool {
        !self.0.is_null()
    }

    /// The place as a number: some calls carry numbers in pointers.
    fn address(self) -> usize {
        self.0 as usize
    }

    /// The place of a number.
    fn at_address(address: usize) -> Out<T> {
        Out(address as *mut T)
    }

    /// Puts the result there, if anywhere.
    fn offer(self, value: T) {
        // Nowhere means that the caller does not ask.
        let _ = self.put(value);
    }

    /// Puts a text there, cut to `bytes` with its nul.
    fn put_text(self, text: &str, bytes: i32) -> Outcome {
        let room = usize::try_from(bytes).ok().filter(|room| *room > 0 && !self.0.is_null());
        let room = room.ok_or(Code::INVALID_VALUE)?;
        let count = text.len().min(room - 1);
        // SAFETY: as in `put`, for `bytes` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.0.cast(), count);
            self.0.cast::<u8>().add(count).write(0);
        }
        Ok(())
    }
}

/// A C text, or anything else that begins with readable memory.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text(*const c_char);

impl Text {
    /// The first four bytes; fewer if the text ends before.
    fn bytes4(self) -> Result<[u8; 4], Code> {
        let start = Out(self.0.cast_mut().cast::<u8>());
        let mut bytes = [0; 4];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = start.at(at)?;
            if *byte == 0 {
                break;
            }
        }
        Ok(bytes)
    }

    /// The text, if it is UTF-8.
    fn read(self) -> Result<String, Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: a `Text` exists only as argument of an exported function, whose caller promises a nul at
        // its end.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map(str::to_owned).map_err(|_| Code::INVALID_VALUE)
    }
}

/// Defines exported functions and their table.
macro_rules! exports {
    ($(
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) $needs:ident,
        |$driver:ident, $device:ident| $body:block
    )*) => {
        $(
            #[doc = concat!("The driver's `", stringify!($name), "`.")]
            #[doc = ""]
            #[doc = "# Safety"]
            #[doc = "As the driver's documentation says: pointers must be what their names promise."]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> u32 {
                let shown = || format!("{:?}", ($(&$arg,)*));
                $crate::driver::calls::enter(
                    stringify!($name),
                    $crate::driver::calls::Needs::$needs,
                    shown,
                    |$driver: &mut $crate::driver::state::Driver, $device: usize| $body,
                )
            }
        )*

        /// The names and addresses of the symbols above.
        pub fn table() -> Vec<(&'static str, *const std::ffi::c_void)> {
            vec![$((stringify!($name), $name as *const std::ffi::c_void)),*]
        }
    };
}
use exports;

/// Every exported symbol.
fn symbols() -> Vec<(&'static str, *const c_void)> {
    let tables = [copy::table(), device::table(), launch::table()];
    [tables.concat(), memory::table(), stream::table(), words::table()].concat()
}

/// The current device of this thread.
fn current() -> Option<usize> {
    CURRENT.get()
}

/// Carries out one call.
fn enter(
    symbol: &'static str,
    needs: Needs,
    shown: impl Fn() -> String,
    body: impl FnOnce(&mut Driver, usize) -> Outcome,
) -> u32 {
    let begin = processor_ns();
    let outside = OUTSIDE.try_with(|(outside, last)| {
        // Without what it takes to ask.
        outside.set(outside.get() + begin.saturating_sub(last.get() + *ASKING));
        outside.get()
    });
    let outside = outside.unwrap_or(0);
    let outcome = catch_unwind(AssertUnwindSafe(|| locked(symbol, needs, shown, outside, body)));
    let _ = OUTSIDE.try_with(|(_, last)| last.set(processor_ns()));
    match outcome {
        Ok(Ok(())) => 0,
        Ok(Err(code)) => code.0,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            say(&format!("{symbol} panicked, a fault of the simulator: {text}"));
            Code::UNKNOWN.0
        }
    }
}

thread_local! {
    /// Nanoseconds of processor time that this thread has spent outside of calls; when the last one ended.
    static OUTSIDE: (Cell<u64>, Cell<u64>) = const { (Cell::new(0), Cell::new(0)) };
}

/// Nanoseconds that asking for the time takes at least.
static ASKING: LazyLock<u64> = LazyLock::new(|| {
    let between = (0..100).map(|_| (processor_ns(), processor_ns())).map(|(one, next)| next - one);
    between.min().unwrap_or(0)
});

/// Nanoseconds of processor time of this thread.
fn processor_ns() -> u64 {
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    const THREAD: i32 = 3;
    let mut time = [0; 2];
    // SAFETY: the pointer is to a local of the system's layout.
    unsafe { clock_gettime(THREAD, &mut time) };
    (time[0] * 1_000_000_000 + time[1]) as u64
}

fn locked(
    symbol: &'static str,
    needs: Needs,
    shown: impl Fn() -> String,
    outside: u64,
    body: impl FnOnce(&mut Driver, usize) -> Outcome,
) -> Outcome {
    // At a process's end others still ask; a driver that has ended says so.
    if CURRENT.try_with(|_| ()).is_err() {
        return Err(Code::DEINITIALIZED);
    }
    let mut turn = Turn::take();
    let driver = turn.driver();
    if driver.is_none() {
        let known = |symbol: &str| symbols().iter().any(|(name, _)| *name == symbol);
        let config = Config::from_env(known).map_err(|text| {
            say(&text);
            Code::INVALID_VALUE
        })?;
        *driver = Some(Driver::new(config));
    }
    let driver = driver.as_mut().expect("made above");
    if driver.process != std::process::id() {
        let process = driver.process;
        driver
            .report
            .fault(&format!("{symbol} was called in a process forked from {process}, which started CUDA"));
        return Err(Code::NOT_INITIALIZED);
    }
    let waits = driver.host_waits;
    let outcome = admitted(driver, symbol, needs).and_then(|device| body(driver, device));
    if driver.config.trace {
        let code = outcome.err().map_or(0, |code| code.0);
        let name = Code::text(code).map_or("?", |(name, _)| name.to_str().unwrap_or("?"));
        let waited = if driver.host_waits > waits { ", the host waited" } else { "" };
        driver.report.line(&format!("{symbol}{} = {name}{waited} [{outside} ns outside]", shown()));
    }
    outcome
}

/// Whether the call may begin; the current device if there is one.
fn admitted(driver: &mut Driver, symbol: &'static str, needs: Needs) -> Result<usize, Code> {
    if needs != Needs::Nothing && !driver.initialised {
        return Err(Code::NOT_INITIALIZED);
    }
    let device = current();
    inject(driver, symbol, device)?;
    match (needs, device) {
        (Needs::Current, None) => Err(Code::INVALID_CONTEXT),
        (Needs::Current, Some(device)) if driver.devices[device].retained == 0 => {
            Err(Code::CONTEXT_IS_DESTROYED)
        }
        (Needs::Current, Some(device)) => driver.healthy(device).map(|()| device),
        (Needs::Nothing | Needs::Init, _) => Ok(0),
    }
}

/// Counts the call and fails it if `PARTITA_SIM_FAIL` says so.
fn inject(driver: &mut Driver, symbol: &'static str, device: Option<usize>) -> Outcome {
    let count = driver.calls.entry(symbol).or_default();
    *count += 1;
    let count = *count;
    let found = driver.config.failures.iter().find(|wanted| wanted.symbol == symbol && wanted.nth == count);
    match (found.map(|wanted| wanted.failure), device) {
        (None, _) => Ok(()),
        (Some(Failure::Lost), device) => {
            let device = device.unwrap_or(0);
            driver.report.fault(&format!("device {device} is lost, as wanted, at call {count} of {symbol}"));
            driver.devices[device].lost = true;
            driver.abandon(device);
            Err(Code::DEVICE_UNAVAILABLE)
        }
        (Some(Failure::Code(code)), Some(device)) if code.sticky() => {
            driver.fault(&[device], code, &format!("call {count} of {symbol} fails, as wanted"));
            Err(code)
        }
        (Some(Failure::Code(code)), _) => {
            driver.report.line(&format!("call {count} of {symbol} fails, as wanted"));
            Err(code)
        }
    }
}

/// Says that something is not simulated.
fn not_simulated(driver: &Driver, what: &str) -> Code {
    driver.report.line(&format!("{what} is not simulated"));
    Code::NOT_SUPPORTED
}
