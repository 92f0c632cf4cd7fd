//! Tests of the windows: the pieces cover the region once, and every piece fits.

use super::*;
use partita_kernels::{Builder, Fold, FoldOp, View};

const TIGHT: Bounds = Bounds {
    max_binding_bytes: 1024,
    offset_alignment: 64,
    max_groups: 1 << 20,
    max_points: 1 << 20,
    max_kept: 1 << 20,
};

fn blur(rank: usize) -> Verified {
    let mut k = Builder::new("blur", rank);
    let (input, output) = (k.input(DType::F32), k.output(DType::U8));
    let mut offsets = vec![0; rank];
    offsets[0] = 1;
    let value = k.load(input, &offsets);
    let value = k.cast(value, DType::U8);
    k.elementwise(&[(output, value)]).unwrap()
}

fn launch(extents: &[usize], views: Vec<View>) -> Launch {
    Launch { extents: extents.to_vec(), origin: vec![7; extents.len()], views, arguments: vec![] }
}

fn view(offset: i64, strides: &[i64]) -> View {
    View { offset, strides: strides.to_vec() }
}

#[test]
fn pieces_cover_the_region_once_and_fit() {
    let whole = launch(&[40, 30], vec![view(100, &[33, 1]), view(5, &[-31, 1])]);
    let whole = Launch { views: vec![whole.views[0].clone(), view(5 + 39 * 31, &[-31, 1])], ..whole };
    let pieces = split(&blur(2), &whole, &TIGHT).unwrap();
    assert!(pieces.len() > 4);
    let mut seen = vec![0; 40 * 30];
    for piece in &pieces {
        let start: Vec<usize> = piece.launch.origin.iter().map(|o| (o - 7) as usize).collect();
        for i in 0..piece.launch.extents[0] {
            for j in 0..piece.launch.extents[1] {
                seen[(start[0] + i) * 30 + start[1] + j] += 1;
            }
        }
        for (p, window) in piece.windows.iter().enumerate() {
            let (window, size) = (window.unwrap(), [4, 1][p]);
            assert!(window.bytes <= 1024 && window.bytes % 8 == 0 && window.first_byte % 64 == 0);
            let touched = blur(2).touched(&piece.launch)[p].unwrap();
            assert!(window.first_byte <= (touched.0 * size) as u64);
            assert!(window.first_byte + window.bytes >= ((touched.1 + 1) * size) as u64);
            let element = window.first_byte as i64 / size + i64::from(window.element as i32);
            assert_eq!(element, piece.launch.views[p].offset);
        }
    }
    assert!(seen.iter().all(|&n| n == 1));
}

#[test]
fn what_fits_stays_whole_and_what_is_empty_vanishes() {
    let small = launch(&[3, 4], vec![view(0, &[4, 1]), view(0, &[4, 1])]);
    assert_eq!(split(&blur(2), &small, &TIGHT).unwrap().len(), 1);
    let empty = launch(&[3, 0], vec![view(0, &[4, 1]), view(0, &[4, 1])]);
    assert_eq!(split(&blur(2), &empty, &TIGHT).unwrap(), []);
}

#[test]
fn a_single_point_that_is_too_wide_is_named() {
    let mut k = Builder::new("far", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let (near, far) = (k.load(input, &[0]), k.load(input, &[1]));
    let sum = k.binary(partita_kernels::BinaryOp::Add, near, far);
    let kernel = k.elementwise(&[(output, sum)]).unwrap();
    let wide = launch(&[9], vec![view(0, &[5000]), view(0, &[1])]);
    assert_eq!(split(&kernel, &wide, &TIGHT).unwrap_err().param, 0);
}

#[test]
fn pieces_of_a_reduction_have_all_values_of_their_kept_points() {
    let mut k = Builder::new("columns", 2);
    let (input, output) = (k.input(DType::F64), k.output(DType::F64));
    let value = k.load(input, &[0, 0]);
    let kernel = k.reduce(&[true, false], &[Fold::Value { op: FoldOp::Sum, value, output }]).unwrap();
    let whole = launch(&[100, 300], vec![view(0, &[300, 1]), view(0, &[0, 1])]);
    let pieces = split(&kernel, &whole, &TIGHT).unwrap();
    assert!(pieces.len() > 1 && pieces.iter().all(|p| p.launch.extents[0] == 100));
    assert_eq!(pieces.iter().map(|p| p.launch.extents[1]).sum::<usize>(), 300);
    let empty = Launch { extents: vec![0, 10], ..whole };
    assert_eq!(split(&kernel, &empty, &TIGHT).unwrap().len(), 1);
}

#[test]
fn index_windows_tile_the_indices() {
    for offset in [0, 3, 1000] {
        let all = index_windows(DType::U16, offset, 5000, &TIGHT);
        let mut next = 0;
        for part in &all {
            assert_eq!(part.first, next);
            assert!(part.window.bytes <= 1024);
            let element = part.window.first_byte / 2 + u64::from(part.window.element);
            assert_eq!(element, offset as u64 + part.first);
            next += u64::from(part.count);
        }
        assert_eq!(next, 5000 - offset as u64);
    }
    assert_eq!(index_windows(DType::U16, 9, 9, &TIGHT), []);
}
