//! Keys of draws of random numbers, as operands.

use std::sync::Arc;

use partita_kernels::{DType, Scalar};

use crate::array::memory::step_numbers::StepNumbers;
use crate::array::record::expr::{Expr, NodeLayout};
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::array::recorder::streams::SharedStream;
use crate::error::Result;
use crate::index::Index;
use crate::team::Team;

/// The key of a stream's next draw as operands: in the step of a `Loop` from devices, otherwise plain
/// numbers.
pub(crate) fn next_key(team: &Team, stream: &SharedStream) -> Result<[Arc<Node>; 2]> {
    let before = *stream.state();
    let key = stream.state().draw();
    let recorder = Recorder::current();
    if let Some(mut streams) = recorder.streams() {
        let advance = |numbers: &StepNumbers| {
            numbers.advance().try_for_each(|(schedule, memory)| {
                recorder.keep(memory);
                recorder.execute(schedule.clone())
            })
        };
        let drawn = streams.draw(team, stream, (before, key), advance);
        recorder.put_streams(streams);
        if let Some(nodes) = drawn? {
            return Ok(nodes);
        }
    }
    Ok(key.map(|word| {
        let number = Expr::Fill(Scalar { dtype: DType::U32, bits: word.into() });
        Node::lazy(Index::filled(1, 1), DType::U32, team, number, NodeLayout::Free)
    }))
}
