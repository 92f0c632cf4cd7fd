//! Programs for one rank of a job of several processes, however the job was started.

use partita::prelude::*;

use super::spmd;

/// Compares what programs for many ranks read with one process; the larger team, and how many ran.
pub fn programs(device: &Device) -> partita::Result<(Team, usize)> {
    let mut ran = 0;
    let mut largest = None;
    for parts in [1, 2] {
        let team = Team::world_on(std::slice::from_ref(device), parts)?;
        let alone = Team::on(std::slice::from_ref(device), team.size())?;
        for (name, program) in spmd::PROGRAMS {
            assert!(program(&team)? == program(&alone)?, "{name}: rank {} reads something else", team.rank());
            ran += 1;
        }
        largest = Some(team);
    }
    Ok((largest.unwrap(), ran))
}

/// Heat that flows along a line.
fn heat(team: &Team) -> partita::Result<Loop<impl FnMut(&mut [Array]) -> partita::Result<()>>> {
    let dist = Distribution::builder(&[40]).parts(team.size()).build()?;
    let u = Array::from_fn(team, &dist, |at| at[0] as f64)?;
    Ok(Loop::new(vec![u], |state: &mut [Array]| {
        let u = &state[0];
        let rate = u.slice(&s![..-2]) - 2.0 * u.slice(&s![1..-1]) + u.slice(&s![2..]);
        let next = u.slice(&s![1..-1]) + 0.1 * rate;
        state[0].assign(&s![1..-1], &next)
    }))
}

/// Rank 1 ends in the middle; the others' errors name it and the step, replayed ones counted.
pub fn ends() -> partita::Result<()> {
    let team = Team::world_on(&[Device::host()], 1)?;
    let mut heat = heat(&team)?;
    heat.run(20)?;
    if team.rank() == 1 {
        std::process::exit(0);
    }
    let text = heat.run(5).unwrap_err().to_string();
    let step = text.split_once("it ended after step ").and_then(|(_, rest)| rest.split_once(' '));
    let step: u64 = step.unwrap_or_else(|| panic!("{text}")).0.parse().unwrap();
    assert!(text.contains("rank 1 failed in") && step >= 20, "{text}");
    Ok(())
}

/// Rank 1 multiplies by another number; all ranks' errors say so.
pub fn numbers() -> partita::Result<()> {
    let team = Team::world_on(&[Device::host()], 1)?;
    let dist = Distribution::builder(&[40]).parts(team.size()).build()?;
    let u = Array::from_fn(&team, &dist, |at| at[0] as f64)? * if team.rank() == 1 { 0.2 } else { 0.1 };
    u.eval()?;
    let text = u.sum(&[]).item::<f64>().unwrap_err().to_string();
    assert!(text.contains("other numbers"), "{text}");
    Ok(())
}

/// A program that passes every point at which a fault can happen.
pub fn fault() -> partita::Result<()> {
    let team = Team::world_on(&[Device::host()], 1)?;
    let mut heat = heat(&team)?;
    for _ in 0..4 {
        heat.run(6)?;
        let total: f64 = heat.state()[0].sum(&[]).item()?;
        assert!(total.is_finite());
        heat.state()[0].to_vec::<f64>()?;
    }
    println!("rank {}: no fault happened", team.rank());
    Ok(())
}
