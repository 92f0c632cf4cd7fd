//! A program starts only the drivers of the devices it uses. The simulated driver and the Vulkan loader
//! report when they are started.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod other;

use partita::prelude::*;

/// The output of a process that opens `word`, drivers included.
fn output_of(word: &str, failures: &str) -> String {
    let mut command = other::test("child_asks_for_devices");
    command.env("PARTITA_DEVICE", word).env("PARTITA_SIM_TRACE", "1").env("VK_LOADER_DEBUG", "all");
    command.env("PARTITA_SIM_FAIL", failures).env("PARTITA_SIM_DEVICES", "2").env("PARTITA_DEBUG", "1");
    other::said(command)
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_asks_for_devices() {
    match Team::local(2) {
        Ok(team) => println!("opened: {team}"),
        Err(error) => println!("refused: {error}"),
    }
    if std::env::var("PARTITA_SIM_FAIL").is_ok_and(|failures| !failures.is_empty()) {
        Device::all().iter().for_each(|device| println!("all: {device:?}"));
    }
}

fn starts_cuda(text: &str) -> bool {
    text.contains("simcuda: cuInit")
}

fn starts_vulkan(text: &str) -> bool {
    text.lines()
        .any(|line| line.contains("DRIVER:") || line.contains("LAYER:") || line.contains("Vulkan Loader"))
}

fn has(kind: DeviceKind) -> bool {
    Device::all().iter().any(|device| device.kind() == kind)
}

fn is_simulated() -> bool {
    Device::all().iter().any(|device| device.kind() == DeviceKind::Cuda && device.is_software())
}

#[test]
fn a_program_starts_the_drivers_it_asks_for() {
    let devices = found::devices();
    let host = output_of("host", "");
    assert!(host.contains("opened: 2 members: 0-1 on host"), "{host}");
    assert!(!starts_cuda(&host) && !starts_vulkan(&host), "{host}");
    found::ran("only-opened", &devices[0], 1);
    if is_simulated() {
        let cuda = output_of("cuda", "");
        assert!(cuda.contains("opened: 2 members: 0 on cuda:0 "), "{cuda}");
        assert!(starts_cuda(&cuda) && !starts_vulkan(&cuda), "{cuda}");
        println!("ran: cuda-only-opened 1");
    }
    if has(DeviceKind::Wgpu) && cfg!(target_os = "linux") {
        let wgpu = output_of("wgpu", "");
        assert!(wgpu.contains("opened: 2 members: 0-1 on wgpu "), "{wgpu}");
        assert!(!starts_cuda(&wgpu) && starts_vulkan(&wgpu), "{wgpu}");
        println!("ran: wgpu-only-opened 1");
    }
    let none = output_of("abacus", "");
    assert!(
        none.contains("refused: PARTITA_DEVICE: expected auto, host, cuda or wgpu, given `abacus`"),
        "{none}"
    );
}

#[test]
fn looking_for_adapters_prints_nothing_without_a_window_system() {
    let mut command = other::test("child_asks_for_devices");
    command.env("PARTITA_DEVICE", "wgpu");
    for variable in ["XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY"] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_device_that_does_not_open_hides_no_other() {
    if !is_simulated() {
        return;
    }
    let one = output_of("cuda", "cuDevicePrimaryCtxRetain:1:lost");
    assert!(one.contains("opened: 2 members: 0-1 on cuda:1 "), "{one}");
    let all = |text: &str, kind: &str| {
        text.lines().filter(|line| line.starts_with(&format!("all: {kind}"))).count()
    };
    assert_eq!((all(&one, "host"), all(&one, "cuda")), (1, 1), "{one}");
    let none = output_of("cuda", "cuInit:1:system_not_ready");
    let why = "refused: no cuda device: starting the driver failed: CUDA_ERROR_SYSTEM_NOT_READY";
    assert!(none.contains(why) && none.contains("nvidia-smi"), "{none}");
    assert_eq!((all(&none, "host"), all(&none, "cuda")), (1, 0), "{none}");
    assert_eq!(all(&none, "wgpu") > 0, has(DeviceKind::Wgpu), "{none}");
    let auto = output_of("auto", "cuInit:1:system_not_ready");
    assert!(
        auto.contains("opened: ") && auto.contains("auto passes over: no cuda device: starting"),
        "{auto}"
    );
    println!("ran: cuda-unopened 3");
}
