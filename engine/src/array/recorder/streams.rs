//! Random numbers in the steps of a `Loop`. A replay repeats commands, so a draw's key is no plain number
//! there: devices have the key and the counter of a stream in memory, and every draw of a step begins with
//! two small launches: one makes the draw's key of them, the other counts. After a run the stream's own
//! counter stands where single steps would have left it.
//!
//! A stream that no step before has used draws with plain keys. If it is there after the step it is the
//! program's, and draws from devices in further steps. Otherwise the step made it, and draws the same with it
//! every time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use partita_kernels::{DType, Scalar, random::threefry};

use crate::array::memory::step_numbers::{StepNumbers, StreamMemory};
use crate::array::record::expr::{Expr, NodeLayout};
use crate::array::record::node::Node;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::team::Team;

/// All that a stream of random numbers is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct StreamState {
    pub key: [u32; 2],
    pub draws: u64,
}

impl StreamState {
    /// The key of the next draw.
    pub fn draw(&mut self) -> [u32; 2] {
        let key = threefry(self.key, [self.draws as u32, (self.draws >> 32) as u32]);
        self.draws += 1;
        key
    }
}

/// The state of a stream, which a `Loop` moves on when it replays draws.
#[derive(Debug)]
pub(crate) struct SharedStream(Arc<Mutex<StreamState>>);

impl SharedStream {
    pub fn new(state: StreamState) -> SharedStream {
        SharedStream(Arc::new(Mutex::new(state)))
    }

    pub fn state(&self) -> MutexGuard<'_, StreamState> {
        lock(&self.0)
    }
}

/// A copy goes its own way.
impl Clone for SharedStream {
    fn clone(&self) -> SharedStream {
        SharedStream::new(*self.state())
    }
}

fn lock(stream: &Mutex<StreamState>) -> MutexGuard<'_, StreamState> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The streams that the steps of a `Loop` draw from.
#[derive(Default)]
pub(crate) struct StepStreams {
    streams: Vec<StepStream>,
    /// The keys of the step under way, which become plain numbers at its end.
    keys: Vec<(Arc<Node>, u32)>,
    /// Whether the last step drew from the program's streams with plain keys: then it is not for replaying.
    pub has_plain: bool,
}

struct StepStream {
    stream: Weak<Mutex<StreamState>>,
    team: Team,
    /// As it was when the step began, or when the devices' memory was last in accord with it.
    known: StreamState,
    /// Draws of each step; `None` before the first that drew from devices.
    draws: Option<u64>,
    /// Draws of the step under way; `None` if it is the first with this stream.
    drawn: Option<usize>,
    memory: Option<StreamMemory>,
    /// The current key of each draw of a step.
    keys: Vec<Arc<StepNumbers>>,
}

impl StepStreams {
    /// Whether steps draw.
    pub fn is_used(&self) -> bool {
        !self.streams.is_empty()
    }

    /// A step or replays begin: devices learn of draws elsewhere. Says whether a stream is there no more, so
    /// that the step cannot be the same.
    pub fn begin(&mut self) -> Result<bool> {
        let count = self.streams.len();
        self.streams.retain(|stream| stream.stream.strong_count() > 0);
        for stream in &mut self.streams {
            stream.drawn = Some(0);
            let Some(shared) = stream.stream.upgrade() else { continue };
            let now = *lock(&shared);
            if let (Some(memory), true) = (&stream.memory, now != stream.known) {
                stream.team.together("Loop", || memory.upload(now.key, now.draws))?;
            }
            stream.known = now;
        }
        Ok(self.streams.len() < count)
    }

    /// A draw by a stream in a step: the operands of its key, which `advance` makes the current one of
    /// devices; or `None` if the key is to be plain.
    pub fn draw(
        &mut self,
        team: &Team,
        SharedStream(shared): &SharedStream,
        (before, key): (StreamState, [u32; 2]),
        advance: impl FnOnce(&StepNumbers) -> Result<()>,
    ) -> Result<Option<[Arc<Node>; 2]>> {
        let found = self.streams.iter_mut().find(|stream| stream.stream.as_ptr() == Arc::as_ptr(shared));
        let Some(stream) = found else {
            self.streams.push(StepStream {
                stream: Arc::downgrade(shared),
                team: team.clone(),
                known: before,
                draws: None,
                drawn: None,
                memory: None,
                keys: Vec::new(),
            });
            return Ok(None);
        };
        let Some(drawn) = &mut stream.drawn else { return Ok(None) };
        if stream.team != *team {
            let given = format!("draws on {} and on {team}", stream.team);
            let remedy = "use a generator for each team";
            return Err(Error::invalid("Loop", "draws of a generator on one team", given, remedy));
        }
        let make = || {
            let memory = match stream.memory.take() {
                Some(memory) => memory,
                None => StreamMemory::new(team)?,
            };
            if stream.keys.is_empty() {
                memory.upload(before.key, before.draws)?;
            }
            let numbers = (stream.keys.len() <= *drawn).then(|| StepNumbers::of_stream(team, &memory));
            Ok((memory, numbers.transpose()?))
        };
        let (memory, numbers) = team.together("Loop", make)?;
        stream.memory = Some(memory);
        stream.keys.extend(numbers);
        let numbers = &stream.keys[*drawn];
        *drawn += 1;
        advance(numbers)?;
        let nodes = [0, 1].map(|which| {
            let expr = Expr::Number(Arc::clone(numbers), which);
            Node::lazy(Index::filled(1, 1), DType::U32, team, expr, NodeLayout::Free)
        });
        self.keys.extend(nodes.iter().cloned().zip(key));
        Ok(Some(nodes))
    }

    /// A step is over.
    ///
    /// # Errors
    /// Draws that a replay would not repeat.
    pub fn end(&mut self) -> Result<()> {
        self.plain();
        self.streams.retain(|stream| stream.stream.strong_count() > 0);
        self.has_plain = false;
        for stream in &mut self.streams {
            let Some(shared) = stream.stream.upgrade() else { continue };
            let now = *lock(&shared);
            let made = now.draws.wrapping_sub(stream.known.draws);
            let Some(drawn) = stream.drawn else {
                self.has_plain = true;
                stream.known = now;
                continue;
            };
            let drawn = drawn as u64;
            if made != drawn || now.key != stream.known.key {
                let given =
                    format!("{drawn} draws of arrays, and another state of the generator than after these");
                let remedy = "seed generators, and draw numbers for the host, outside of the step";
                return Err(Error::invalid("Loop", "a step whose draws are recorded alone", given, remedy));
            }
            if let Some(before) = stream.draws.replace(drawn)
                && before != drawn
            {
                let given = format!("{before} draws of a generator in one step and {drawn} in a later one");
                let remedy = "draw as often in each step, also what is not used";
                return Err(Error::invalid("Loop", "a step that draws the same every time", given, remedy));
            }
            stream.known = now;
        }
        Ok(())
    }

    /// So many steps were replayed.
    pub fn replayed(&mut self, steps: u64) {
        for stream in &mut self.streams {
            let Some(shared) = stream.stream.upgrade() else { continue };
            let mut state = lock(&shared);
            state.draws = state.draws.wrapping_add(steps.wrapping_mul(stream.draws.unwrap_or_default()));
            stream.known = *state;
        }
    }

    /// An expression that a step leaves unevaluated keeps its key.
    fn plain(&mut self) {
        for (node, word) in self.keys.drain(..) {
            node.become_number(Scalar { dtype: DType::U32, bits: word.into() });
        }
    }
}

impl Drop for StepStreams {
    fn drop(&mut self) {
        self.plain();
    }
}
