//! The surface of the crate: numbers of all types beside arrays, `+=`, ranges of usize; the text of errors.

use partita::prelude::*;

fn line(values: &[i64]) -> Array {
    let team = Team::on(&[Device::host()], 2).expect("a team");
    let dist = Distribution::default_partition(2, &[values.len() as i64]).expect("a partition");
    Array::from_slice(&team, &dist, values).expect("an array")
}

fn values(array: &Array) -> Vec<i64> {
    array.to_vec().expect("computes")
}

#[test]
fn numbers_of_all_types_stand_beside_arrays() {
    let u = line(&[1, 2, 3]);
    assert_eq!(values(&(2 * &u)), [2, 4, 6]);
    assert_eq!(values(&(7 - u.clone())), [6, 5, 4]);
    assert_eq!(values(&(&u + 1)), [2, 3, 4]);
    assert_eq!(values(&(&u + 1u8 + -1i16 + 2usize + 3u64)), [6, 7, 8]);
    assert_eq!(values(&(&u * 2.0f32)), [2, 4, 6]);
    let x = u.cast(DType::F32);
    assert_eq!((2 * (&x * 0.5f32 + 1).sqrt()).dtype(), DType::F32);
    assert_eq!((&x * partita::half::f16::from_f32(1.5)).to_vec::<f32>().expect("computes"), [1.5, 3.0, 4.5]);
}

/// No double holds these numbers.
#[test]
fn large_integers_are_exact() {
    let large = (1i64 << 60) + 1;
    let u = line(&[large, large - 1, -large]);
    assert_eq!(values(&(&u + large - large)), [large, large - 1, -large]);
    assert_eq!(u.equal(large).to_bools().expect("computes"), [true, false, false]);
    assert_eq!(u.less(large).to_bools().expect("computes"), [false, true, true]);
    assert_eq!(u.less(u64::MAX).to_bools().expect("computes"), [true; 3]);
    assert_eq!(u.greater_equal(u64::MAX).to_bools().expect("computes"), [false; 3]);
    let small = u.cast(DType::I8);
    assert_eq!(small.greater(-large).to_bools().expect("computes"), [true; 3]);
    let error = (&small + large).recorded().expect_err("too large");
    assert!(error.to_string().contains("a number that i8 holds"), "{error}");
}

#[test]
fn operators_with_assignment_keep_type_shape_and_clones() {
    let mut u = line(&[1, 2, 3]);
    let before = u.clone();
    u += 1;
    u *= &before;
    u -= line(&[1]);
    u /= 2usize;
    u %= 4;
    u |= 8;
    assert_eq!(values(&u), [8, 10, 9]);
    assert_eq!(values(&before), [1, 2, 3]);
    let mut one = line(&[1]);
    one += &before;
    let error = one.recorded().expect_err("a larger shape");
    let expected = "add_assign: expected an operand that broadcasts to (1), given a result of (3); ";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn ranges_count_in_usize_i32_and_i64() {
    let u = line(&[0, 1, 2, 3, 4]);
    let (n, k, m) = (4usize, 1i32, 3i64);
    assert_eq!(values(&u.slice(&s![1..n])), [1, 2, 3]);
    assert_eq!(values(&u.slice(&s![k..])), [1, 2, 3, 4]);
    assert_eq!(values(&u.slice(&s![..m])), [0, 1, 2]);
    assert_eq!(values(&u.slice(&s![n..k as usize;-2])), [4, 2]);
    assert_eq!(values(&u.slice(&s![NewAxis, n..]).slice(&s![0usize, ..])), [4]);
    assert!(u.slice(&s![..usize::MAX]).recorded().is_err());
}

#[test]
fn errors_show_their_text_when_main_returns_them() {
    let Err(error) = Team::on(&[], 2) else { panic!("a team of no devices") };
    assert_eq!(format!("{error:?}"), error.to_string());
    let error = Region::new(&[1], &[0, 2]).expect_err("two ranks");
    assert_eq!(format!("{error:?}"), error.to_string());
}

/// A package holds its own folder alone.
#[test]
fn what_is_included_lies_in_the_crate() {
    use std::path::{Component, Path, PathBuf};

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => sources(&path, found),
                path if path.extension().is_some_and(|e| e == "rs") => found.push(path),
                _ => {}
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned();
    let mut included = 0;
    for name in ["kernels", "engine", "interop", "benches"] {
        let mut files = Vec::new();
        sources(&root.join(name).join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source");
            for words in text.split("include_str!(").chain(text.split("include_bytes!(")).skip(1) {
                let Some(path) = words.strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                    continue;
                };
                let mut place = file.parent().expect("a folder").to_owned();
                for step in Path::new(path).components() {
                    if step == Component::ParentDir { assert!(place.pop()) } else { place.push(step) }
                }
                assert!(
                    place.starts_with(root.join(name)) && place.exists(),
                    "{} includes {path}",
                    file.display()
                );
                included += 1;
            }
        }
    }
    assert!(included >= 4, "{included}");
}
