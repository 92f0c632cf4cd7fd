//! Launches of one kernel that share grids: what each launch on its own would have done.

use std::collections::BTreeSet;

use partita_kernels::{DType, Launch, Verified};

use crate::agreement::{Arrays, cases, difference, star, stencil_launch, weighted};
use crate::machine::{Compiled, Setting, on_host};
use crate::stencils::inside;

/// Runs launches together and compares; the entries of the grids that it took.
fn together(kernel: &Verified, boxes: &[(Launch, Arrays)], setting: Setting) -> Vec<&'static str> {
    let compiled = Compiled::new(kernel, setting);
    let (given, grids) = compiled.run_batch(kernel, boxes, setting).unwrap();
    for ((launch, arrays), given) in boxes.iter().zip(&given) {
        let expected = on_host(kernel, launch, arrays);
        assert_eq!(difference(kernel, &expected, given), None, "{setting:?} {launch:?}");
    }
    grids
}

#[test]
fn launches_of_parts_are_one_grid() {
    let plain = Setting { target: partita_kernels::ptx::PtxTarget { sm: 90 }, ..Setting::PLAIN };
    let (mut ran, mut kinds) = (0, BTreeSet::new());
    // Parts alike, and such as differ by a row or a column; so many that one table has no room for them; and
    // as many grids as it takes.
    let shapes: [(&[&[usize]], usize); 7] = [
        (&[&[60, 41], &[60, 41], &[60, 41], &[60, 41]], 1),
        (&[&[60, 41], &[61, 41], &[60, 40], &[59, 41]], 1),
        (&[&[60usize, 41][..]; 9], 2),
        (&[&[5, 6, 70], &[5, 6, 69], &[5, 6, 70]], 1),
        // As many rows, and more planes.
        (&[&[5, 6, 70], &[4, 6, 70], &[5, 6, 70]], 2),
        (&[&[300], &[301], &[299]], 1),
        // An empty one, and one that is alone with its shape.
        (&[&[60, 41], &[0, 41], &[60, 41], &[2, 3]], 2),
    ];
    for d in [DType::F32, DType::F16, DType::F64] {
        for (shapes, expected) in &shapes {
            let kernel = cases::stencil(d, shapes[0].len()).unwrap();
            for pad in [3, 4] {
                let boxes: Vec<_> = shapes.iter().map(|extents| stencil_launch(d, extents, pad)).collect();
                let grids = together(&kernel, &boxes, plain);
                assert_eq!(grids.len(), *expected, "{d} {shapes:?} {grids:?}");
                kinds.extend(grids);
                together(&kernel, &boxes, Setting { shrunk: true, ..plain });
                ran += 2 * boxes.len();
            }
        }
        for extents in [[[9, 13, 201], [9, 14, 201]], [[9, 13, 64], [9, 13, 65]]] {
            let kernel = weighted("star", d, &star(3, 1));
            let boxes: Vec<_> = extents.iter().map(|extents| inside(&kernel, extents, 1, 0)).collect();
            let grids = together(&kernel, &boxes, Setting { multiprocessors: 1, ..plain });
            assert_eq!(grids, ["planes"], "{d} {extents:?}");
            kinds.extend(grids);
            ran += boxes.len();
        }
    }
    assert_eq!(kinds, ["planes", "pointwise", "vector"].into_iter().collect());
    println!("ran: ptx-together {ran}");
}
