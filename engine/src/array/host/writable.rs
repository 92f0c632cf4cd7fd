//! Memory of arrays that others write: [`Writable`] lends an array's own memory, [`Home`] keeps an array's
//! value in memory that another owner lent. Independent of the export protocol.
//!
//! Values do not change, so whoever else holds the value first gets a copy of it. What was written becomes a
//! new value: a node of its own over memory with a new number, whose halos are stale. So recorded
//! expressions, replayed loops and caches find nothing of what was there before.

use std::ops::Deref;
use std::sync::{Arc, Weak};

use crate::array::Array;
use crate::array::host::part::Part;
use crate::array::memory::storage::Storage;
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::array::run::assign::unshared;
use crate::error::{Error, Result};

/// An array whose memory others may write until [`Writable::end`].
pub struct Writable {
    array: Array,
    parts: Vec<Part>,
}

/// Lends an array's memory; the array is not used meanwhile. Dropping it ends the loan.
pub struct WritableGuard<'a> {
    array: &'a mut Array,
    lent: Option<Writable>,
}

impl Array {
    /// Lends the memory of the parts to be written by others: until the guard is dropped, what lies at
    /// [`Part::address`] and [`Part::cuda_address`] of its parts may be changed. Clones, and expressions that
    /// were recorded, keep the value that they have: if there are any, the array moves to memory of its own.
    /// Values written to a halo have no effect. Ending the loan waits for all work on CUDA devices.
    /// Collective.
    ///
    /// ```
    /// # use partita::array::Cells;
    /// # use partita::prelude::*;
    /// let team = Team::on(&partita::Device::named("host")?, 2)?;
    /// let dist = Distribution::builder(&[4]).parts(2).build()?;
    /// let mut u = Array::zeros(&team, &dist, DType::F32)?;
    /// for part in u.writable()?.parts() {
    ///     let first = part.address(Cells::Owned)?.unwrap().cast::<f32>();
    ///     // SAFETY: the part is lent to be written, and has a cell.
    ///     unsafe { first.write(part.index() as f32 + 1.0) };
    /// }
    /// assert_eq!(u.to_vec::<f32>()?, [1.0, 0.0, 2.0, 0.0]);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// Inside a `Loop`'s step; replicated dimensions; those of [`Array::eval`].
    #[doc = example!(
        "let mut v = u.clone();"
        "let lent = v.writable()?;"
        "assert_eq!(lent.parts().len(), 2); // Others may write there now."
        "lent.end()?;"
    )]
    pub fn writable(&mut self) -> Result<WritableGuard<'_>> {
        let idle = Array::of(Node::failed(&self.node, self.dtype(), lent_out()));
        let lent = Writable::of(std::mem::replace(self, idle), None, |array| Ok(array.clone()));
        match lent {
            Ok(lent) => Ok(WritableGuard { array: self, lent: Some(lent) }),
            Err((array, error)) => {
                *self = array;
                Err(error)
            }
        }
    }
}

impl Array {
    /// Replaces all elements by those of `value`, which is divided like this array, in the memory that they
    /// are in: it stays the same unless somebody else has the old value. Computes at once. Collective. In a
    /// `Loop`'s step it is an assignment.
    ///
    /// # Errors
    /// Another team, type or division; those of [`Array::eval`]. The array then keeps its value.
    #[doc = example!(
        "let mut v = &u + 0;"
        "v.overwrite(&(&u * 2))?;"
        "assert_eq!(v.get(&[1, 2])?, 10.0.into());"
    )]
    pub fn overwrite(&mut self, value: &Array) -> Result<()> {
        let (dist, given) = (self.distribution()?, value.distribution()?);
        if !dist.same_layout(&given) || (self.team(), self.dtype()) != (value.team(), value.dtype()) {
            let (expected, remedy) = (format!("{} elements of {dist}", self.dtype()), "redistribute it");
            return Err(Error::invalid(
                "overwrite",
                expected,
                format!("{} of {given}", value.dtype()),
                remedy,
            ));
        }
        let recorder = Recorder::current();
        if recorder.is_recording() {
            *self = value.clone();
            return Ok(());
        }
        self.eval()?;
        value.eval()?;
        let (team, dtype) = (self.team().clone(), self.dtype());
        let _guard = team.evaluation()?;
        self.node = team.together("overwrite", || {
            let node = unshared(&recorder, &self.node, 1)?;
            let (Some(from), Some(to)) = (value.node.storage(), node.storage()) else {
                unreachable!("computed above")
            };
            recorder.execute(from.copy_owned(&team, dtype, &to)?)?;
            Ok(Node::ready(dtype, &team, to.renewed()).over(node.domain.clone()))
        })?;
        Ok(())
    }
}

fn lent_out() -> Error {
    Error::invalid(
        "reading an array",
        "one that is not lent",
        "one whose memory others write",
        "end the loan",
    )
}

impl Writable {
    /// Lends the memory of what `shown` makes of the array: the array itself, or a view, whose parts lie in
    /// the array's memory. Gives the array back with an error.
    ///
    /// # Errors
    /// As [`Array::writable`]; a view whose elements are on other parts than the array's, or in another
    /// order.
    pub fn of(
        mut array: Array,
        home: Option<&mut Home>,
        shown: impl FnOnce(&Array) -> Result<Array>,
    ) -> std::result::Result<Writable, (Array, Error)> {
        match lend(&mut array, home, shown) {
            Ok(parts) => Ok(Writable { array, parts }),
            Err(error) => Err((array, error)),
        }
    }

    /// The parts that this rank holds, halos current.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The array with what was written.
    ///
    /// # Errors
    /// The device's.
    pub fn end(self, home: Option<&mut Home>) -> Result<Array> {
        let Writable { array, parts } = self;
        for part in &parts {
            part.device().wait_for_all()?;
        }
        drop(parts);
        let Some(storage) = array.node.storage() else { unreachable!("lent memory is there") };
        let node = Node::ready(array.dtype(), array.team(), storage.renewed());
        let written = Array::of(node.over(array.node.domain.clone()));
        if let Some(home) = home {
            home.holds(&written);
        }
        Ok(written)
    }
}

fn lend(
    array: &mut Array,
    home: Option<&mut Home>,
    shown: impl FnOnce(&Array) -> Result<Array>,
) -> Result<Vec<Part>> {
    let recorder = Recorder::current();
    let refuse = |expected: &str, given: &str, remedy: &'static str| {
        Err(Error::invalid("writable", expected.to_owned(), given.to_owned(), remedy))
    };
    if recorder.is_recording() {
        return refuse(
            "a step that only computes, because a replay cannot repeat lending memory",
            "a loan inside a Loop's step",
            "lend the state between runs of the Loop",
        );
    }
    let dist = array.distribution()?;
    if (0..dist.rank()).any(|d| dist.map(d).has_copies()) {
        let remedy = "redistribute the array first";
        return refuse("one holder for each element", "a distribution with replicated dimensions", remedy);
    }
    array.eval()?;
    match home {
        Some(home) => home.receive(array)?,
        None => {
            let team = array.team().clone();
            let _guard = team.evaluation()?;
            array.node = team.together("writable", || unshared(&recorder, &array.node, 1))?;
        }
    }
    let Some(storage) = array.node.storage() else { unreachable!("computed above") };
    let parts = shown(array)?.parts()?;
    match parts.iter().all(|part| part.is_in(&storage)) {
        true => Ok(parts),
        false => refuse(
            "a view whose elements lie on the parts of its array, in their order",
            "one whose elements must be moved to be shown",
            "lend the array that it is a view of",
        ),
    }
}

impl WritableGuard<'_> {
    fn finish(&mut self) -> Result<()> {
        if let Some(lent) = self.lent.take() {
            *self.array = lent.end(None)?;
        }
        Ok(())
    }

    /// Ends the loan.
    ///
    /// # Errors
    /// The device's; the array then carries an error.
    pub fn end(mut self) -> Result<()> {
        self.finish()
    }
}

impl Deref for WritableGuard<'_> {
    type Target = Writable;

    fn deref(&self) -> &Writable {
        match &self.lent {
            Some(lent) => lent,
            None => unreachable!("ended only when it is consumed"),
        }
    }
}

impl Drop for WritableGuard<'_> {
    fn drop(&mut self) {
        // A device that fails here is lost; the array says so when it is used.
        let _ = self.finish();
    }
}

/// Memory of another owner that an array's value is kept in: what is assigned to the array lands there.
pub struct Home {
    storage: Arc<Storage>,
    /// The value that is there.
    holder: Weak<Node>,
}

impl Home {
    /// The memory of an array that was just made over it.
    ///
    /// # Errors
    /// An array that is not computed; memory that was lent to be read.
    pub fn of(array: &Array) -> Result<Home> {
        let storage = array.node.storage().filter(|storage| storage.is_lent_to_be_written());
        let Some(storage) = storage else {
            let expected = "memory that another owner lent to be written";
            return Err(Error::invalid("Home::of", expected, "other memory", "borrow it with borrow_mut"));
        };
        Ok(Home { storage, holder: Arc::downgrade(&array.node) })
    }

    /// Copies an array's value to this memory, where it is from now on; who else holds the value that was
    /// there gets a copy of it. Does nothing inside a `Loop`'s step. Collective.
    ///
    /// # Errors
    /// Another shape or type; those of [`Array::eval`]. The memory then keeps its value.
    pub fn receive(&mut self, array: &mut Array) -> Result<()> {
        if Recorder::current().is_recording() {
            return Ok(());
        }
        array.eval()?;
        let (team, dtype, dist) = (array.team().clone(), array.dtype(), Arc::clone(&self.storage.declared));
        let value = match *array.distribution()? == *dist {
            true => array.clone(),
            false => array.redistribute(&dist),
        };
        value.eval()?;
        let Some(from) = value.node.storage() else { unreachable!("computed above") };
        let is_there = Arc::ptr_eq(&from, &self.storage);
        drop(value);
        let (recorder, _guard) = (Recorder::current(), team.evaluation()?);
        team.together("writing to lent memory", || {
            let others = self.holder.upgrade().filter(|node| {
                let own = usize::from(Arc::ptr_eq(node, &array.node)) + 1;
                Arc::strong_count(node) > own
            });
            let holds =
                |node: &Arc<Node>| node.storage().is_some_and(|held| Arc::ptr_eq(&held, &self.storage));
            if let Some(node) = others.filter(holds) {
                let copy = self.storage.like(&team, dtype)?;
                recorder.execute(self.storage.copy_owned(&team, dtype, &copy)?)?;
                node.set_ready(Arc::new(copy));
            }
            if !is_there {
                recorder.execute(from.copy_owned(&team, dtype, &self.storage)?)?;
            }
            Ok(())
        })?;
        // The owner looks at it without a stream of ours.
        team.wait()?;
        let node = Node::ready(dtype, &team, self.storage.renewed());
        *array = Array::of(node.over(array.node.domain.clone()));
        self.holds(array);
        Ok(())
    }

    fn holds(&mut self, array: &Array) {
        if let Some(storage) = array.node.storage() {
            (self.storage, self.holder) = (storage, Arc::downgrade(&array.node));
        }
    }
}
