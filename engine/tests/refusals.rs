//! Invalid input: every message names the operation, what was expected, what was given and what to do, and
//! no data is lost.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use partita::prelude::*;

fn line(n: i64, parts: usize) -> Array {
    let team = Team::on(&[Device::host()], parts).unwrap();
    let dist = Distribution::builder(&[n]).parts(parts).build().unwrap();
    Array::from_fn(&team, &dist, |at| at[0] as f32).unwrap()
}

fn message<T>(result: partita::Result<T>) -> String {
    match result {
        Ok(_) => panic!("expected a refusal"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn shapes_dtypes_and_teams_that_do_not_match() {
    let (a, b) = (line(10, 2), line(11, 2));
    assert_eq!(
        message((&a + &b).eval()),
        "add: expected shapes that broadcast (equal, or 1, counted from the last dimension), \
         given (10) and (11); take windows of equal extents, or insert dimensions of extent 1"
    );
    let ints = a.cast(DType::I32);
    assert_eq!(
        message((&a * &ints).eval()),
        "mul: expected operands of one dtype, given f32 and i32; convert one of them with `cast`"
    );
    // Members of different ranks: here the only one of a program of two ranks, and this thread's own.
    let texts = partita::wire::threads::run(2, |ranks| {
        let team = Team::over(&ranks, &[Device::host()], 1).unwrap();
        let other = Array::zeros(&team, &Distribution::builder(&[10]).parts(2).build().unwrap(), DType::F32);
        message((&a - &other.unwrap()).eval())
    });
    for text in texts {
        let text = text.unwrap();
        assert!(text.starts_with("sub: expected operands on teams over the same ranks, given "), "{text}");
        assert!(
            text.ends_with("; make both teams with Team::world, or one of members of the other"),
            "{text}"
        );
    }
    let later = ((&a + &b) * 2.0).sqrt().sum(&[]);
    assert!(message(later.eval()).starts_with("add: "), "the first mistake is the one reported");
    assert_eq!(a.to_vec::<f32>().unwrap()[9], 9.0);
}

#[test]
fn slices_outside_the_shape() {
    let a = line(10, 2);
    assert_eq!(
        message(a.slice(&s![3..12]).eval()),
        "slice: expected a span within 0..10, in steps other than 0, given 3..12 in dimension 0; \
         negative ends count from the end; clip the span to the shape"
    );
    assert!(message(a.slice(&s![.., 1..]).eval()).contains("at most 1 spans"));
    assert!(message(a.slice(&s![5..2]).eval()).contains("5..2 in dimension 0"));
    let mut b = a.clone();
    assert!(message(b.assign(&s![0..3], &a.slice(&s![0..4]))).contains("given (4)"));
    assert_eq!(
        b.to_vec::<f32>().unwrap(),
        a.to_vec::<f32>().unwrap(),
        "a refused assignment changes nothing"
    );
}

#[test]
fn parts_and_halos_that_cannot_be() {
    assert!(message(Team::on(&[Device::host()], 0)).contains("at least 1 part"));
    let team = Team::on(&[Device::host()], 2).unwrap();
    let three = Distribution::builder(&[10]).parts(3).build().unwrap();
    assert!(message(Array::zeros(&team, &three, DType::F32)).contains("2 parts"));
    let wide = Distribution::builder(&[10]).parts(5).halo(&[3], &[3]).build();
    let text = wide.unwrap_err().to_string();
    assert!(text.contains("halo"), "{text}");
    assert!(Distribution::builder(&[10]).parts(0).build().is_err());
}

#[test]
fn shifts_need_periodic_dimensions() {
    let text = message(line(10, 2).shift(&[1]).eval());
    assert!(text.contains("not periodic") && text.contains("use slices"), "{text}");
}

#[test]
fn a_device_that_is_not_there_says_what_was_searched() {
    let is_cuda = |device: &Device| device.kind() == DeviceKind::Cuda;
    let text = match Device::all().iter().any(is_cuda) {
        false => message(Device::named("cuda").map(|_| ())),
        true => message(Device::cuda(99).map(|_| ())),
    };
    assert!(text.starts_with("no cuda device: "), "{text}");
    let text = message(Device::named("abacus").map(|_| ()));
    assert!(text.contains("present: host"), "{text}");
    assert!(message(Device::named("abacus").map(|_| ())).contains("not one of auto, host, wgpu, cuda"));
}

#[test]
fn memory_beyond_the_budget_is_refused_and_everything_stays_readable() {
    let device = Device::host();
    let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
    let dist = Distribution::builder(&[1 << 16]).parts(2).build().unwrap();
    let a = Array::from_fn(&team, &dist, |at| at[0] as f32).unwrap();
    let before = a.to_vec::<f32>().unwrap();
    device.set_budget(Some(300_000));
    let b = &a + 1.0;
    let text = message(b.eval());
    assert!(text.contains("131072 bytes requested, 262144 in use, budget of 300000 bytes"), "{text}");
    assert_eq!(a.to_vec::<f32>().unwrap(), before);
    device.set_budget(None);
    assert_eq!(b.to_vec::<f32>().unwrap()[5], 6.0, "the refused expression can be computed later");
}

#[test]
fn memory_the_system_does_not_have_is_an_error() {
    let team = Team::on(&[Device::host()], 1).unwrap();
    let dist = Distribution::builder(&[1 << 55]).parts(1).build().unwrap();
    let text = message(Array::zeros(&team, &dist, DType::F64).unwrap().eval());
    assert!(text.contains("out of memory on host"), "{text}");
}

#[test]
fn reading_inside_a_loop_is_refused() {
    let mut broken = Loop::new(vec![line(10, 2)], |state| state[0].sum(&[]).item::<f32>().map(|_| ()));
    assert!(message(broken.run(1)).contains("read the state between runs"));
    // What the host puts into memory would not be there again in a replay.
    let mut broken = Loop::new(vec![line(10, 2)], |state| {
        let (team, dist) = (state[0].team(), state[0].distribution()?);
        let new = Array::from_fn(team, &dist, |at| at[0] as f32)?;
        state[0] = &state[0] + &new;
        Ok(())
    });
    assert!(message(broken.run(1)).contains("make the array before the Loop"));
    let mut broken = Loop::new(vec![line(10, 2)], |state| state[0].get(&[3]).map(|_| ()));
    assert!(message(broken.run(1)).contains("read the state between runs"));
}

#[test]
fn memory_the_driver_does_not_have_is_an_error_and_the_device_goes_on() {
    for device in found::devices().into_iter().filter(|device| device.kind() == DeviceKind::Wgpu) {
        let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
        let small = Distribution::builder(&[100]).parts(1).build().unwrap();
        let kept = Array::from_fn(&team, &small, |at| at[0] as f32).unwrap();
        let huge = Distribution::builder(&[1 << 40]).parts(1).build().unwrap();
        let text = message(Array::zeros(&team, &huge, DType::F32).unwrap().eval());
        assert!(text.starts_with("out of memory on wgpu") && text.contains("driver"), "{text}");
        assert_eq!((&kept + 1.0).to_vec::<f32>().unwrap()[99], 100.0);
        found::ran("refused-memory", &device, 1);
    }
}
