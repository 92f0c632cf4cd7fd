//! The speed of interpreted instructions. Printed, not asserted: the machine is shared.

use crate::harness::{body, bytes, holding, params};
use simcuda::Machine;
use std::time::Instant;

#[test]
fn instructions_per_second() {
    let polynomial: String = (0..20).map(|_| "    fma.rn.f32 %f3, %f3, %f1, %f2;\n").collect();
    let program = body(&format!(
        "    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    ld.param.u64 %rd3, [launch+16];
    ld.param.u32 %r5, [launch+24];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 bra DONE;
    mul.wide.u32 %rd4, %r4, 4;
    add.u64 %rd5, %rd1, %rd4;
    add.u64 %rd6, %rd2, %rd4;
    add.u64 %rd7, %rd3, %rd4;
    ld.global.nc.f32 %f1, [%rd5];
    ld.global.nc.f32 %f2, [%rd6];
    mov.f32 %f3, 0f3F800000;
{polynomial}    st.global.f32 [%rd7], %f3;
DONE:"
    ));
    let count = 1 << 18;
    let mut machine = Machine::new(1);
    let values: Vec<u8> = (0..count).flat_map(|i| (i as f32 / count as f32).to_le_bytes()).collect();
    let (a, b) = (holding(&mut machine, &values), holding(&mut machine, &values));
    let c = machine.alloc(values.len() as u64, 256);
    let start = Instant::now();
    let rounds = 4;
    for _ in 0..rounds {
        let params = params(&[a, b, c, count]);
        machine.run(&program, "k", [count as u32 / 256, 1, 1], [256, 1, 1], &params).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    let instructions = (rounds * count * 39) as f64;
    println!("simcuda interprets {:.0} million instructions per second", instructions / seconds / 1e6);
    assert_eq!(bytes(&machine, c, 4), 1f32.mul_add(0.0, 0.0).to_le_bytes());
}
