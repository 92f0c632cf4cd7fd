//! PTX text to a program: a strict parser of the subset that the simulator runs, and what its instructions
//! compute. It knows neither memory nor threads.

mod decode;
mod lexer;
mod parse;
mod program;
mod semantics;
mod types;

pub use lexer::ParseError;
pub use program::{Entry, Program, Threads};

pub(crate) use program::{
    Array, At, CTAID, Change, Guard, LANEID, NCTAID, NTID, Op, Place, ShuffleMode, Slot, Space, TID, Vector,
    Width,
};
