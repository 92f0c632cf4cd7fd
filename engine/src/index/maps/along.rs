//! [`Along`]: an affine rule from the coordinates of one array to one dimension of another.

/// Which coordinate of a source's dimension a point means: the rule by which views see their base, kernels
/// their operands, and plans what they bring. One per dimension of the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Along {
    /// Coordinate `offset + step * point[dim]` of the source. Where the source is periodic, it wraps around.
    Dim {
        /// The dimension of the point.
        dim: usize,
        /// The coordinate at 0.
        offset: i64,
        /// What one further adds to it; not 0.
        step: i64,
    },
    /// This coordinate, whatever the point.
    Pinned(i64),
}

impl Along {
    /// The same coordinate as the point's.
    pub fn same(dim: usize) -> Along {
        Along::Dim { dim, offset: 0, step: 1 }
    }

    /// The coordinate that a point means.
    pub fn at(self, point: &[i64]) -> i64 {
        match self {
            Along::Dim { dim, offset, step } => offset + step * point[dim],
            Along::Pinned(at) => at,
        }
    }

    /// The coordinate of a source's source: this rule gives the point that `inner` takes one coordinate of.
    pub fn then(self, inner_offset: i64, inner_step: i64) -> Along {
        match self {
            Along::Dim { dim, offset, step } => {
                Along::Dim { dim, offset: inner_offset + inner_step * offset, step: inner_step * step }
            }
            Along::Pinned(at) => Along::Pinned(inner_offset + inner_step * at),
        }
    }

    /// The lowest coordinate that points from `first` to before `last` mean, and one more than the highest;
    /// `first` is below `last`.
    pub fn span(self, first: i64, last: i64) -> (i64, i64) {
        match self {
            Along::Dim { offset, step, .. } => {
                let (a, b) = (offset + step * first, offset + step * (last - 1));
                (a.min(b), a.max(b) + 1)
            }
            Along::Pinned(at) => (at, at + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Along;

    #[test]
    fn rules_of_rules_are_rules() {
        let outer = Along::Dim { dim: 1, offset: 9, step: -2 };
        assert_eq!(outer.at(&[7, 3]), 3);
        assert_eq!(outer.then(1, 3).at(&[7, 3]), 10);
        assert_eq!(Along::Pinned(4).then(1, 3), Along::Pinned(13));
        assert_eq!((outer.span(1, 4), Along::Pinned(4).span(0, 9)), ((3, 8), (4, 5)));
    }
}
