//! Halo exchanges between two processes beside the same bytes by MPI alone, or by a bare pair of sockets
//! where TCP connects them, in turns in one run. Beside a ping-pong, where one process sends at a time, is
//! what the engine takes of the wire's bandwidth; beside a bare loop in which both send and receive at once,
//! with as many messages, what it adds to each. Started by `mpirun -n 2`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use anyhow::{Result, ensure};
#[cfg(feature = "mpi")]
use mpi::traits::{Communicator, Destination, Source};
use partita::plan::Plan;
use partita::prelude::*;
use partita::transport::{Exchange, Field, lower_between_ranks};

/// Cells of a face, f32, from tiny to what no cache holds.
const FACES: &[i64] = &[4, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22];
/// Turns of each, of which the middle one counts.
const TURNS: usize = 15;

pub fn run(device: &str) -> Result<()> {
    let devices = Device::named(device)?;
    let team = Team::world_on(&devices, 1)?;
    if team.ranks() != 2 {
        println!("skipped: messages (start it by `mpirun -n 2`)");
        return Ok(());
    }
    let speaks = team.rank() == 0;
    if speaks {
        println!("{team}");
        println!(
            "{:>12}  {:>16}  {:>10}  {:>12}  {:>9}  {:>10}  {:>9}",
            "bytes a face", "path", "halo us", "ping-pong us", "ratio", "loop us", "ratio"
        );
    }
    for &cells in FACES {
        let mut halo = Halo::new(&team, cells)?;
        let mut plain = Plain::new(&team, 4 * cells as usize)?;
        let repeats = (1 << 22) / (4 * cells as usize + (1 << 12)) + 1;
        let mut turns = Vec::new();
        for _ in 0..=TURNS {
            let ours = seconds(repeats, || halo.step())?;
            let pong = seconds(repeats, || plain.there_and_back())?;
            plain.check()?;
            let both = seconds(repeats, || plain.both_ways())?;
            plain.check()?;
            turns.push([ours, pong, both]);
        }
        halo.check(cells)?;
        if speaks {
            // The first turn agrees, compiles and touches memory.
            let [ours, pong, both] = [0, 1, 2].map(|of| median(turns[1..].iter().map(|t| t[of]).collect()));
            println!(
                "{:>12}  {:>16}  {:>10.2}  {:>12.2}  {:>9.2}  {:>10.2}  {:>9.2}",
                4 * cells,
                halo.path,
                ours * 1e6,
                pong * 1e6,
                pong / ours,
                both * 1e6,
                both / ours
            );
        }
    }
    if speaks {
        println!("ran: messages {}", FACES.len());
    }
    Ok(())
}

fn seconds(repeats: usize, mut step: impl FnMut() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    (0..repeats).try_for_each(|_| step())?;
    Ok(begin.elapsed().as_secs_f64() / repeats as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Two parts of two rows, which exchange one row each: a face each way.
struct Halo {
    array: Array,
    exchange: Exchange,
    path: String,
}

impl Halo {
    fn new(team: &Team, cells: i64) -> Result<Halo> {
        let dist = Distribution::builder(&[4, cells]).grid(&[2, 1]).halo(&[1, 0], &[1, 0]).build()?;
        let array = Array::from_fn(team, &dist, |at| (at[0] * 1000 + at[1] % 1000) as f32)?;
        let places = array.places()?;
        let plan = Plan::halo_widths(&*array.distribution()?, &[1, 0], &[1, 0], false)?;
        let field = Field { plan: &plan, from: &places, to: &places, dtype: DType::F32 };
        let exchange = lower_between_ranks("halo exchange", (team, team), &[field])?;
        let path = exchange.links.first().map_or(String::new(), |link| link.transport.to_string());
        Ok(Halo { array, exchange, path })
    }

    fn step(&mut self) -> Result<()> {
        self.exchange.commands().try_for_each(crate::raw_access::run)?;
        Ok(self.array.team().wait()?)
    }

    /// The row that came is the other part's.
    fn check(&self, cells: i64) -> Result<()> {
        let team = self.array.team();
        let places = self.array.places()?;
        let Some(place) = &places[team.rank()] else { return Ok(()) };
        let row = 4 * cells as usize;
        let (at, global) = if team.rank() == 0 { (2, 2) } else { (0, 1) };
        let mut bytes = vec![0; row];
        crate::raw_access::download(&place.device, &place.allocation, (at * row) as u64, &mut bytes)?;
        for (k, cell) in bytes.as_chunks::<4>().0.iter().enumerate() {
            let expected = (global * 1000 + k as i64 % 1000) as f32;
            ensure!(f32::from_ne_bytes(*cell) == expected, "cell {k} of the halo is another");
        }
        Ok(())
    }
}

/// The same bytes without the engine.
struct Plain {
    bare: Bare,
    rank: usize,
    out: Vec<u8>,
    back: Vec<u8>,
}

/// The bare carrier of messages.
enum Bare {
    #[cfg(feature = "mpi")]
    Mpi(mpi::topology::SimpleCommunicator),
    Socket(TcpStream),
}

impl Bare {
    fn of(team: &Team) -> Result<Bare> {
        let Some(ranks) = team.wire() else { anyhow::bail!("two processes are needed") };
        #[cfg(feature = "mpi")]
        if ranks.wire_name() != "TCP" {
            return Ok(Bare::Mpi(mpi::topology::SimpleCommunicator::world()));
        }
        ensure!(ranks.wire_name() == "TCP", "build it with the feature `mpi`, or set PARTITA_MPI=off");
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let addresses = ranks.all_gather("addresses", listener.local_addr()?.to_string().as_bytes())?;
        let socket = match team.rank() {
            0 => listener.accept()?.0,
            _ => TcpStream::connect(std::str::from_utf8(&addresses[0])?)?,
        };
        socket.set_nodelay(true)?;
        Ok(Bare::Socket(socket))
    }

    fn send(&mut self, _rank: usize, bytes: &[u8]) -> Result<()> {
        match self {
            #[cfg(feature = "mpi")]
            Bare::Mpi(world) => world.process_at_rank(1 - _rank as i32).send(bytes),
            Bare::Socket(socket) => socket.write_all(bytes)?,
        }
        Ok(())
    }

    fn receive(&mut self, _rank: usize, bytes: &mut [u8]) -> Result<()> {
        match self {
            #[cfg(feature = "mpi")]
            Bare::Mpi(world) => drop(world.process_at_rank(1 - _rank as i32).receive_into(bytes)),
            Bare::Socket(socket) => socket.read_exact(bytes)?,
        }
        Ok(())
    }
}

impl Plain {
    fn new(team: &Team, bytes: usize) -> Result<Plain> {
        let (rank, bare) = (team.rank(), Bare::of(team)?);
        Ok(Plain { bare, rank, out: vec![7 + rank as u8; bytes], back: vec![0; bytes] })
    }

    fn there_and_back(&mut self) -> Result<()> {
        if self.rank == 0 {
            self.bare.send(0, &self.out)?;
            return self.bare.receive(0, &mut self.back);
        }
        self.bare.receive(1, &mut self.back)?;
        self.bare.send(1, &self.out)
    }

    /// One message each way at the same time.
    fn both_ways(&mut self) -> Result<()> {
        match &mut self.bare {
            #[cfg(feature = "mpi")]
            Bare::Mpi(world) => {
                let other = world.process_at_rank(1 - self.rank as i32);
                mpi::request::scope(|scope| {
                    use mpi::request::WaitGuard;
                    let _comes = WaitGuard::from(other.immediate_receive_into(scope, &mut self.back[..]));
                    let _goes = WaitGuard::from(other.immediate_send(scope, &self.out[..]));
                });
            }
            Bare::Socket(socket) => {
                // Two blocking threads, as a program with one socket would.
                let mut sending = socket.try_clone()?;
                let out = &self.out;
                std::thread::scope(|scope| {
                    let sent = scope.spawn(move || sending.write_all(out));
                    socket.read_exact(&mut self.back)?;
                    sent.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })?;
            }
        }
        Ok(())
    }

    /// The bytes are the other process's; afterwards there are none.
    fn check(&mut self) -> Result<()> {
        ensure!(self.back.iter().all(|&byte| byte == 8 - self.rank as u8), "the bare bytes came wrong");
        self.back.fill(0);
        Ok(())
    }
}
