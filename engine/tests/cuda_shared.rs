//! CUDA memory and events shared by two processes (CUDA IPC): contents, order, and errors. Without a driver
//! every test prints `skipped: cuda (reason)`.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
mod found;
mod other;

use std::sync::{Mutex, PoisonError};

use agreement::{bytes, downloaded, flat, job, raw_access, uploaded};
use other::{Other, hex, next_line, unhex};
use partita::device::Buffer;
use partita::device::cuda::IpcHandle;
use partita::prelude::*;
use partita_kernels::{BinaryOp, Builder, Verified};

const N: usize = 5000;

/// One test changes the budget of the device that all use.
static BUDGET: Mutex<()> = Mutex::new(());

fn gpu() -> Option<Device> {
    found::devices().into_iter().find(|device| device.kind() == DeviceKind::Cuda)
}

fn add_one() -> Verified {
    let mut k = Builder::new("add_one", 1);
    let both = k.inout(DType::I32);
    let (old, one) = (k.load(both, &[0]), k.int(DType::I32, 1));
    let new = k.binary(BinaryOp::Add, old, one);
    k.elementwise(&[(both, new)]).unwrap()
}

fn add(device: &Device, memory: &Buffer, times: usize) {
    let kernel = add_one();
    let job = job(device, &kernel, &flat(&kernel, N), &[memory]).unwrap();
    (0..times).for_each(|_| raw_access::launch(device, &job).unwrap());
}

fn all(value: i32) -> Vec<Vec<u8>> {
    vec![bytes(DType::I32, [i64::from(value) as u64; N])]
}

#[test]
fn values_travel_both_ways_in_the_order_of_an_event() {
    let Some(device) = gpu() else { return };
    let _budget = BUDGET.lock().unwrap_or_else(PoisonError::into_inner);
    let buffer = uploaded(&device, &all(0)).remove(0);
    let event = device.ipc_event().unwrap();
    let handle = device.export_memory(buffer.allocation()).unwrap();
    // Queued after sharing: without the event the other process would not see it.
    add(&device, &buffer, 3);
    event.record().unwrap();
    let mut command = other::test("child_adds_to_shared_memory");
    command.env("PARTITA_TEST_MEMORY", hex(&handle.0));
    command.env("PARTITA_TEST_EVENT", hex(&event.export().unwrap().0));
    for round in 1..4 {
        let mut other = Other::start(command_again(&command));
        other.hear("recorded");
        event.hold().unwrap();
        add(&device, &buffer, 1);
        let given = downloaded(&device, std::slice::from_ref(&buffer), &all(0)).unwrap();
        assert_eq!(given, all(3 + 11 * round), "round {round}");
        event.record().unwrap();
        other.tell("done");
        assert_eq!(other.hear("open bytes: "), "0", "what was opened was not closed");
        other.end();
        found::ran("shared-rounds", &device, 1);
    }
}

fn command_again(command: &std::process::Command) -> std::process::Command {
    let mut again = std::process::Command::new(command.get_program());
    again.args(command.get_args());
    again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    again
}

fn handle(variable: &str) -> IpcHandle {
    IpcHandle(unhex(&std::env::var(variable).unwrap()))
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_adds_to_shared_memory() {
    let device = gpu().unwrap();
    let before = device.memory();
    let event = device.import_event(handle("PARTITA_TEST_EVENT")).unwrap();
    let buffer = raw_access::import_memory(&device, handle("PARTITA_TEST_MEMORY"), 4 * N as u64).unwrap();
    event.hold().unwrap();
    let like = downloaded(&device, std::slice::from_ref(&buffer), &all(0)).unwrap();
    let first = i32::from_le_bytes(like[0][..4].try_into().unwrap());
    assert_eq!((first - 3) % 11, 0, "the event was passed before the work in front of it");
    add(&device, &buffer, 10);
    event.record().unwrap();
    println!("recorded");
    assert_eq!(next_line(), "done");
    assert_eq!(device.memory(), before, "shared memory counts in no budget");
    drop(buffer);
    // Memory that was closed is not reused: what is allocated now is new.
    let own = uploaded(&device, &all(-1)).remove(0);
    add(&device, &own, 1);
    assert_eq!(downloaded(&device, &[own], &all(0)).unwrap(), all(0));
    println!("open bytes: {}", device.memory().in_use_bytes - before.in_use_bytes);
}

#[test]
fn what_cannot_be_shared_is_refused_by_name() {
    let Some(device) = gpu() else { return };
    let _budget = BUDGET.lock().unwrap_or_else(PoisonError::into_inner);
    let text = |result: partita::Result<()>| result.unwrap_err().to_string();
    let buffer = device.alloc(4096).unwrap();
    let handle = device.export_memory(buffer.allocation()).unwrap();
    let own = text(raw_access::import_memory(&device, handle, 4096).map(drop));
    assert!(
        own.starts_with(device.name()) && own.contains("opening another process's memory failed"),
        "{own}"
    );
    let event = device.ipc_event().unwrap().export().unwrap();
    let own = text(device.import_event(event).map(drop));
    assert!(
        own.starts_with(device.name()) && own.contains("opening another process's event failed"),
        "{own}"
    );
    let host = Device::host();
    let on_host = text(host.export_memory(host.alloc(16).unwrap().allocation()).map(drop));
    assert!(on_host.contains("expected a CUDA device, given host"), "{on_host}");
    assert_eq!(downloaded(&device, &uploaded(&device, &all(5)), &all(0)).unwrap(), all(5));
    found::ran("shared-refusals", &device, 3);
}

#[test]
fn freed_memory_is_refused_before_and_after_it_is_opened() {
    let Some(device) = gpu() else { return };
    let _budget = BUDGET.lock().unwrap_or_else(PoisonError::into_inner);
    if !device.is_software() {
        println!("skipped: cuda-freed-shares (real drivers keep memory that others have open)");
        return;
    }
    let buffer = device.alloc(4096).unwrap();
    raw_access::upload(&device, buffer.allocation(), 0, &[7; 4096]).unwrap();
    let mut command = other::test("child_opens_what_is_freed");
    command.env("PARTITA_TEST_MEMORY", hex(&device.export_memory(buffer.allocation()).unwrap().0));
    let mut early = Other::start(command_again(&command));
    early.hear("opened");
    // A device that may hold nothing more gives back what its pool keeps.
    drop(buffer);
    device.set_budget(Some(0));
    device.alloc(1).unwrap_err();
    device.set_budget(None);
    early.tell("freed");
    let text = early.hear("error: ");
    assert!(text.contains("CUDA_ERROR_ILLEGAL_ADDRESS") && text.contains("is lost"), "{text}");
    early.end();
    let mut late = Other::start(command);
    let text = late.hear("error: ");
    assert!(text.contains("opening another process's memory failed: CUDA_ERROR_INVALID_VALUE"), "{text}");
    late.end();
    found::ran("freed-shares", &device, 2);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_opens_what_is_freed() {
    let device = gpu().unwrap();
    let read = || -> partita::Result<()> {
        let buffer = raw_access::import_memory(&device, handle("PARTITA_TEST_MEMORY"), 4096)?;
        let mut back = [0; 4096];
        raw_access::download(&device, buffer.allocation(), 0, &mut back)?;
        assert_eq!(back, [7; 4096]);
        println!("opened");
        assert_eq!(next_line(), "freed");
        raw_access::download(&device, buffer.allocation(), 0, &mut back)
    };
    println!("error: {}", read().unwrap_err());
}
