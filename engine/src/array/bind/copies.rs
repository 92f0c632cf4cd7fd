//! Binding of copies within parts.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::bind::schedule::{ScheduleBuilder, Values};
use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::list::CopiedCells;
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::memory::window::{ArrayWindow, ComputeRegion};
use crate::array::record::expr::StridedWindow;
use crate::error::Result;
use crate::index::Index;
use crate::program::{CopyMode, copy_views};

impl ScheduleBuilder {
    /// Adds the copies from one array to another.
    pub fn copy_cells(
        &mut self,
        values: &Values,
        (from, to): (NodeId, NodeId),
        dtype: DType,
        cells: &CopiedCells,
    ) -> Result<()> {
        let (from, to) = (values.storage(from)?, values.storage(to)?);
        let team = self.team.clone();
        match cells {
            CopiedCells::Owned => {
                self.extend(from.copy_owned(&team, dtype, &to)?);
                Ok(())
            }
            CopiedCells::Current => {
                let (copies, halo) = from.copy_current(&team, dtype, &to)?;
                self.extend(copies);
                self.updated_halos.push((to, halo));
                Ok(())
            }
            CopiedCells::Outside(window) => {
                let frame = ArrayWindow { base: Arc::clone(&from.dist), window: *window };
                let halo = to.valid_halo();
                self.extend(from.copy_boxes(&team, dtype, &to, |part| frame.outside(part, &halo))?);
                Ok(())
            }
            CopiedCells::Window(window) => self.copy_window(&from, &to, dtype, window),
        }
    }

    /// Copies an array that is distributed like a window to the cells of the window.
    fn copy_window(
        &mut self,
        value: &Arc<Storage>,
        whole: &Arc<Storage>,
        dtype: DType,
        StridedWindow { region: window, steps }: &StridedWindow,
    ) -> Result<()> {
        let team = self.team.clone();
        let in_steps = steps.iter().any(|&step| step != 1);
        let halo = if in_steps { HaloWidths::zero(window.rank()) } else { value.valid_halo() };
        let frame = ArrayWindow { base: Arc::clone(&whole.dist), window: *window };
        let regions = match in_steps {
            true => ComputeRegion::owned(&value.dist),
            false => frame.regions(&value.dist, &halo, &vec![false; window.rank()])?,
        };
        for (part, zone) in regions.iter().enumerate() {
            let (Some(from), Some(to)) = (value.place(&team, part), whole.place(&team, part)) else {
                continue;
            };
            if zone.bounds.is_empty() {
                continue;
            }
            let corner = frame.corner(part, &zone.bounds)?;
            let first = |d: usize| match steps[d] {
                1 => corner[d],
                step => window.start()[d] + zone.bounds.start()[d] * step,
            };
            let mut into = to.view(&Index::from_fn(window.rank(), first));
            into.strides.iter_mut().zip(steps.iter()).for_each(|(stride, step)| *stride *= step);
            let ends = ((from.view(zone.bounds.start()), &from), (into, &to));
            self.push(copy_views(&zone.bounds.extents(), ends, CopyMode { dtype, add: false })?);
        }
        self.updated_halos.push((Arc::clone(whole), self.valid_halo(whole).min(&halo)));
        Ok(())
    }
}
