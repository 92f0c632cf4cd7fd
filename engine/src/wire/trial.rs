//! The value trial of zero-copy messages: ranks send device memory to each other and compare what arrives.
//! An error of the library is a result of the trial, not a failure of the program; only a rank that does not
//! answer is a failure. The trial runs only where the library says that it takes device pointers, or where
//! `PARTITA_CUDA_AWARE_MPI=1` forces it: a library that does neither would crash on such an address.

use super::line::Patience;
use super::{Broken, InPlace, Outcome, Ranks, Request};
use crate::error::Result;

/// The mark of a trial's messages; nothing else is under way meanwhile.
const MARK: u32 = 1;

impl Ranks {
    /// Whether the wire sends and receives this process's memory where it lies.
    pub(crate) fn takes_host_memory(&self) -> bool {
        self.0.line.wire.takes_host_memory()
    }

    /// Whether the wire says that it takes device pointers; if not, why.
    pub(crate) fn takes_device_memory(&self) -> std::result::Result<(), String> {
        self.0.line.wire.takes_device_memory()
    }

    /// Sends and receives in place, to and from these ranks, which do likewise. Says what the wire complained
    /// of; what arrived is the caller's to look at.
    ///
    /// # Errors
    /// A rank that does not answer or has failed.
    pub(crate) fn try_in_place(
        &self,
        sends: Vec<(usize, InPlace)>,
        receives: Vec<(usize, InPlace)>,
    ) -> Result<std::result::Result<(), String>> {
        let wire = &self.0.line.wire;
        let mut complaint: Option<String> = None;
        let mut refused = |broken: Broken| {
            complaint.get_or_insert(broken.0);
        };
        let mut open: Vec<(usize, Request)> = Vec::new();
        for (from, memory) in receives {
            let peer = self.0.members[from];
            let request = wire.receive_into(peer, memory.clone()).map_err(&mut refused);
            // What was refused is taken otherwise, so that the next message does not meet it.
            let request = request.or_else(|()| wire.receive(peer, vec![0; memory.bytes]));
            open.push((peer, request.map_err(|broken| self.0.line.fail(peer, broken.0))?));
        }
        for (to, memory) in sends {
            let peer = self.0.members[to];
            let request = wire.send_from(peer, MARK, memory.clone()).map_err(&mut refused);
            let request = request.or_else(|()| wire.send(peer, MARK, vec![0; memory.bytes]));
            open.push((peer, request.map_err(|broken| self.0.line.fail(peer, broken.0))?));
        }
        for (peer, request) in open {
            if let Err(reason) = self.outlast(peer, request)? {
                refused(Broken(reason));
            }
        }
        Ok(complaint.map_or(Ok(()), Err))
    }

    /// Waits until a request is over, in whatever way.
    fn outlast(&self, peer: usize, request: Request) -> Result<std::result::Result<(), String>> {
        let mut patience = Patience::new(self);
        loop {
            match self.0.line.wire.test(request) {
                Ok(Outcome::Pending) => {}
                Ok(_) => return Ok(Ok(())),
                Err(broken) => return Ok(Err(broken.0)),
            }
            self.listen()?;
            patience.wait(peer)?;
        }
    }
}
