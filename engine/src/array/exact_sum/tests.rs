//! Digits of 32 bits, as on adapters without i64, and sums of more summands than add up before carries.

use partita_kernels::DType;

use crate::array::exact_sum::sum::exact_sum;
use crate::array::{Array, Element};
use crate::device::Device;
use crate::index::Distribution;
use crate::team::Team;

#[test]
fn narrow_digits_and_carried_portions_give_the_same_sums() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let dist = Distribution::default_partition(3, &[37, 11]).unwrap();
    let at =
        |at: &[i64]| ((at[0] * 31 + at[1] * 17) % 23 - 11) as f32 * 0.1 * (at[1] as f32 * 5.0 - 25.0).exp2();
    let x = Array::from_fn(&team, &dist, at).unwrap();
    for axes in [&[][..], &[0], &[1]] {
        let wide = x.sum_reproducible(axes).to_vec::<f32>().unwrap();
        let double = x.cast(DType::F64);
        let doubles = double.sum_reproducible(axes).to_vec::<f64>().unwrap();
        for most in [1, 4, 100, 1 << 24] {
            assert_eq!(sum_of::<f32>(&x, axes, (DType::I32, most)), wide, "i32, {axes:?}, {most}");
            assert_eq!(sum_of::<f32>(&x, axes, (DType::I64, most)), wide, "i64, {axes:?}, {most}");
            assert_eq!(sum_of::<f64>(&double, axes, (DType::I64, most)), doubles, "f64, {axes:?}, {most}");
        }
    }
}

fn sum_of<T: Element>(x: &Array, axes: &[usize], (word, most): (DType, i64)) -> Vec<T> {
    exact_sum(x, axes, word, most).unwrap().to_vec().unwrap()
}
