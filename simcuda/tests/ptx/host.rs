//! The host's accesses to memory, and their checks.

use crate::harness::{body, bytes, holding, run};
use simcuda::machine::{Kind, Machine};

#[test]
fn host_accesses_are_checked() {
    let mut machine = Machine::new(1);
    let address = holding(&mut machine, &[7; 100]);
    let kind = |result: Result<(), simcuda::Fault>| result.err().map(|fault| fault.kind());
    assert_eq!(kind(machine.write(address + 90, &[0; 10])), None);
    assert_eq!(kind(machine.write(address + 90, &[0; 11])), Some(Kind::OutOfBounds));
    assert_eq!(kind(machine.write(address - 1, &[0; 2])), Some(Kind::OutOfBounds));
    assert_eq!(kind(machine.read(address + 99, &mut [0; 2])), Some(Kind::OutOfBounds));
    assert_eq!(kind(machine.read(address + 99, &mut [0])), None);
    assert_eq!(kind(machine.fill(address, 1, 101)), Some(Kind::OutOfBounds));
    assert_eq!(kind(machine.free(address + 1)), Some(Kind::Free));
    machine.free(address).unwrap();
    assert_eq!(kind(machine.free(address)), Some(Kind::Free));
    assert_eq!(kind(machine.write(address, &[0])), Some(Kind::UseAfterFree));
    assert_eq!(kind(machine.read(address + 50, &mut [0])), Some(Kind::UseAfterFree));
    let fault = machine.read(address + 50, &mut [0]).unwrap_err().to_string();
    let start = format!("{address:#x}");
    assert!(fault.contains(&format!("byte 50 of 100 that were freed at {start}")), "{fault}");
}

#[test]
fn bytes_count_as_initialised_once_written() {
    let mut machine = Machine::new(1);
    let a = machine.alloc(300, 1);
    let b = machine.alloc(300, 4096);
    assert_eq!(b % 4096, 0);
    machine.write(a + 10, &[5; 200]).unwrap();
    let uninitialised =
        |result: Result<(), simcuda::Fault>| result.unwrap_err().kind() == Kind::Uninitialised;
    assert_eq!(bytes(&machine, a + 10, 200), [5; 200]);
    assert!(uninitialised(machine.read(a + 9, &mut [0; 8])));
    assert!(uninitialised(machine.read(a + 10, &mut [0; 201])));
    // A copy takes the holes along.
    machine.fill(b, 1, 300).unwrap();
    machine.copy(b, a, 300).unwrap();
    assert!(uninitialised(machine.read(b + 9, &mut [0])) && uninitialised(machine.read(b + 210, &mut [0])));
    assert_eq!(bytes(&machine, b + 10, 200), [5; 200]);
    // So does a kernel.
    let program = body("    ld.param.u64 %rd1, [launch];\n    ld.global.u8 %r1, [%rd1];");
    run(&mut machine, &program, 1, 1, &[b + 209]).unwrap();
    let fault = run(&mut machine, &program, 1, 1, &[b + 210]).unwrap_err();
    assert_eq!((fault.kind(), fault.address()), (Kind::Uninitialised, Some(b + 210)));
}

#[test]
fn addresses_lie_apart_and_are_not_used_again() {
    let mut machine = Machine::new(1);
    let mut other = Machine::new(1);
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for round in 1..200u64 {
        let machine = if round % 7 == 0 { &mut other } else { &mut machine };
        let address = machine.alloc(round * 13, 256);
        assert_eq!(address % 256, 0);
        let apart =
            |(base, bytes): &(u64, u64)| address >= base + bytes + 256 || address + round * 13 + 256 <= *base;
        assert!(ranges.iter().all(apart), "{address:#x}");
        ranges.push((address, round * 13));
        if round % 3 == 0 {
            machine.free(address).unwrap();
        }
    }
    let mut same = [Machine::with_base(4, 1 << 30), Machine::with_base(4, 1 << 30)];
    let [first, second] = same.each_mut().map(|machine| [5, 500, 50].map(|bytes| machine.alloc(bytes, 1)));
    assert_eq!(first, second);
    assert_eq!(first[0], 1 << 30);
}

#[test]
fn allocations_that_make_no_sense_are_refused() {
    let mut machine = Machine::new(1);
    for (bytes, align) in [(0, 256), (8, 3), (u64::MAX, 256)] {
        assert_eq!(machine.try_alloc(bytes, align).unwrap_err().kind(), Kind::OutOfMemory, "{bytes} {align}");
    }
}

#[test]
fn launches_are_ordered_and_do_not_race() {
    let write = "    ld.param.u64 %rd1, [launch];\n    mov.u32 %r1, %tid.x;\n    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;\n";
    let up =
        body(&format!("{write}    ld.global.nc.u32 %r2, [%rd3+4];\n    st.global.u32 [%rd3+1024], %r2;"));
    let down =
        body(&format!("{write}    ld.global.nc.u32 %r2, [%rd3+1024];\n    st.global.u32 [%rd3], %r2;"));
    let mut machine = Machine::new(1);
    let data: Vec<u8> = (0..256u32).flat_map(u32::to_le_bytes).collect();
    let address = machine.alloc(2048, 256);
    machine.write(address, &data).unwrap();
    for _ in 0..3 {
        run(&mut machine, &up, 1, 255, &[address]).unwrap_or_else(|fault| panic!("{fault}"));
        run(&mut machine, &down, 1, 255, &[address]).unwrap_or_else(|fault| panic!("{fault}"));
    }
    let found = crate::harness::words(&machine, address, 4);
    assert_eq!(found, [3, 4, 5, 6]);
}
