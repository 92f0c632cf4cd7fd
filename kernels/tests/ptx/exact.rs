//! Exact sums on the host against sums by naturals, and everywhere the same numbers.

use crate::agreement::{element, exact_case, hard_summands, nearest_sum};
use crate::machine::{Tally, on_host};
use partita_kernels::{Builder, DType, Launch, Scalar, View, exact};

/// The rounded sums over the marked dimensions.
fn sums(d: DType, extents: &[usize], axes: &[bool], summands: &[u64]) -> (Vec<u8>, Vec<u64>) {
    let width = exact::width(d);
    let (kernel, launch, arrays) = exact_case(d, extents, axes, summands);
    let count = arrays[1].len() / 4 / width;
    let numbers = on_host(&kernel, &launch, &arrays);
    let mut k = Builder::new("round_exact", 2);
    let (input, output) = (k.input(DType::I32), k.output(d));
    let elements: Vec<_> = (0..width).map(|at| k.load(input, &[at as i32, 0])).collect();
    let value = exact::round(&mut k, &elements, d);
    let rounding = partita_kernels::simplify(&k.elementwise(&[(output, value)]).unwrap());
    let launch = Launch {
        extents: vec![1, count],
        origin: vec![0, 0],
        views: vec![
            View { offset: 0, strides: vec![1, width as i64] },
            View { offset: 0, strides: vec![1, 1] },
        ],
        arguments: vec![],
    };
    let rounded = on_host(&rounding, &launch, &vec![numbers[1].clone(), vec![0; d.size_bytes() * count]]);
    let rounded = (0..count).map(|at| element(d, &rounded[1], at).bits).collect();
    (numbers[1].clone(), rounded)
}

#[test]
fn sums_are_those_of_naturals_rounded_once() {
    let mut count = 0;
    for d in [DType::F32, DType::F64] {
        let nan = |bits: u64| Scalar { dtype: d, bits }.to_f64().is_nan();
        for n in [1, 2, 63, 64, 65, 1000, 1023, 1024, 1025, 300_000] {
            for (kind, summands) in hard_summands(d, n, 88_172_645_463_325_252 + n as u64) {
                let expected = nearest_sum(d, summands.iter().copied());
                let (number, given) = sums(d, &[n], &[true], &summands);
                let equal = given[0] == expected || nan(given[0]) && nan(expected);
                assert!(equal, "{d} {n} of {kind}: {:#x}, expected {expected:#x}", given[0]);
                let backwards: Vec<u64> = summands.iter().rev().copied().collect();
                assert_eq!(sums(d, &[n], &[true], &backwards).0, number, "{d} {n} of {kind} backwards");
                count += 2;
            }
        }
        for (extents, axes) in [
            ([7, 130, 5], [false, true, false]),
            ([7, 130, 5], [true, false, true]),
            ([3, 5, 700], [false, false, true]),
            ([40, 9, 300], [true, true, false]),
            ([3, 5, 7], [false, false, false]),
        ] {
            let n = extents.iter().product();
            for (kind, summands) in hard_summands(d, n, 88_172_645_463_325_252 + n as u64) {
                let (_, given) = sums(d, &extents, &axes, &summands);
                let mut kept = vec![Vec::new(); given.len()];
                for (at, &bits) in summands.iter().enumerate() {
                    let point =
                        [at / (extents[1] * extents[2]), at / extents[2] % extents[1], at % extents[2]];
                    let to = (0..3).filter(|&k| !axes[k]).fold(0, |to, k| to * extents[k] + point[k]);
                    kept[to].push(bits);
                }
                for (given, summands) in given.iter().zip(&kept) {
                    let expected = nearest_sum(d, summands.iter().copied());
                    assert!(
                        *given == expected || nan(*given) && nan(expected),
                        "{d} {extents:?} {axes:?} {kind}"
                    );
                }
                count += 1;
            }
        }
        assert_eq!(sums(d, &[0], &[true], &[]).1, [0]);
    }
    println!("ran: exact-sums {count}");
}

#[test]
fn devices_give_the_same_numbers() {
    let mut tally = Tally::default();
    for d in [DType::F32, DType::F64] {
        for (extents, axes) in [
            (&[5000][..], &[true][..]),
            (&[0], &[true]),
            (&[1], &[true]),
            (&[70, 13], &[false, true]),
            (&[13, 70], &[true, false]),
            (&[3, 90, 5], &[false, true, false]),
            (&[9, 11], &[false, false]),
        ] {
            for (_, summands) in
                hard_summands(d, extents.iter().product(), 1 + extents.len() as u64).into_iter().step_by(2)
            {
                let (kernel, launch, arrays) = exact_case(d, extents, axes, &summands);
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["fold", "finish"]);
}
