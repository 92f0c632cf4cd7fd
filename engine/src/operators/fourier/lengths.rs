//! Lengths of transforms: the radices of their passes, and the algorithm.

/// The sign of the exponent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// `exp(-2 pi i j k / n)`.
    Forward,
    /// `exp(2 pi i j k / n)`.
    Inverse,
}

/// The radices of the passes, in order; the numbers of cells that a kernel transforms at once. Eight come
/// first, because they take the fewest passes through memory.
const RADICES: [i64; 7] = [8, 4, 2, 3, 5, 7, 11];

/// The radices of the passes of a length; `None` if another prime divides it.
pub fn radices(n: i64) -> Option<Vec<usize>> {
    let (mut left, mut found) = (n, Vec::new());
    for radix in RADICES {
        while left % radix == 0 {
            left /= radix;
            found.push(radix as usize);
        }
    }
    (left == 1).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radices_multiply_to_the_length() {
        for n in 1..5000i64 {
            if let Some(found) = radices(n) {
                assert_eq!(found.iter().product::<usize>(), n as usize);
            }
        }
        assert_eq!(radices(96), Some(vec![8, 4, 3]));
        assert_eq!((radices(13), radices(2 * 169)), (None, None));
    }
}
