//! Slices and functions of elements: what is done without Python, where no rule of NumPy's has to decide.

pub mod elements;
pub mod slices;
pub mod ufunc;
