//! `redistribute` and `move_to`: arrays on other distributions and teams.

use std::sync::Arc;

use crate::array::Array;
use crate::array::handle::check_parts;
use crate::array::loops::recorder::Recorder;
use crate::array::memory::plans::moved;
use crate::array::record::node::Node;
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::team::{Team, evaluation};

impl Array {
    /// The elements on another distribution of the same shape, of whatever kinds. Computes. The very same
    /// distribution gives the same array, and moves nothing.
    ///
    /// # Errors
    /// Another shape or number of parts; memory; those of [`Array::eval`].
    pub fn redistribute(&self, dist: &Distribution) -> Result<Array> {
        self.move_to(self.team(), dist)
    }

    /// The elements on another team and distribution: the teams may share all, some or no devices. Computes.
    ///
    /// # Errors
    /// Another shape; another number of parts than `team` has members; memory; those of [`Array::eval`].
    pub fn move_to(&self, team: &Team, dist: &Distribution) -> Result<Array> {
        self.eval()?;
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        if team == self.team() && *dist == *storage.declared {
            return Ok(self.clone());
        }
        self.copied_to(team, dist)
    }

    /// The same in memory of its own, whatever the distribution.
    fn copied_to(&self, team: &Team, dist: &Distribution) -> Result<Array> {
        check_parts("redistribute", team, dist)?;
        if dist.shape() != self.shape() {
            return Err(Error::invalid(
                "redistribute",
                format!("a distribution of shape {}", self.shape()),
                dist.shape().to_string(),
                "make it for the array's shape",
            ));
        }
        self.eval()?;
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        if self.team().wire() != team.wire() {
            return Err(Error::invalid(
                "move_to",
                "teams over the same ranks",
                format!("{} and {team}", self.team()),
                "make both with Team::world, or one of members of the other",
            ));
        }
        let _guard = evaluation([self.team(), team].into_iter());
        let storage = self.team().together("redistribution", || {
            moved(&Recorder::current(), &storage, (self.team(), team), &Arc::new(dist.clone()), self.dtype())
        })?;
        Ok(Array::of(Node::ready(self.dtype(), team, storage)))
    }
}
