//! What Python's operators and functions of elements do without Python where no rule of NumPy's has to decide.

pub mod slices;
pub mod ufunc;
