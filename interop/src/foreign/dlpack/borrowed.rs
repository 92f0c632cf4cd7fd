//! [`Borrowed`]: a foreign array. No number of its description is trusted: each is copied once and checked.

use dlpark::ffi::{DLDevice, DLDeviceType, DLTensor};
use dlpark::{AllocationDeleter, DlpackFlags, Managed, ManagedTensorBase, TensorRef};
use partita::DType;
use partita::index::Index;

use super::types::{element_of, is_on_host, name_of};
use crate::element::Element;

/// A foreign array that is ours to end.
pub struct Borrowed {
    /// Shape and strides are the owner's.
    tensor: DLTensor,
    is_writable: bool,
    _owner: AllocationDeleter,
}

// SAFETY: the struct is owned, and the protocol allows its deleter on any thread; its memory is read by
// functions that borrow the value.
unsafe impl Send for Borrowed {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Borrowed {}

/// Why a foreign array cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportRefusal {
    /// The values that were expected and given.
    pub why: String,
    /// The remedy, if no copy would help.
    pub remedy: Option<&'static str>,
}

impl ImportRefusal {
    fn new(why: String) -> ImportRefusal {
        ImportRefusal { why, remedy: None }
    }

    /// The whole text, with a remedy for what a copy helps against.
    pub fn advised(&self, copy: &str) -> String {
        format!("{}; {}", self.why, self.remedy.unwrap_or(copy))
    }
}

/// Memory in C order that stays where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignMemory {
    /// The type of the elements.
    pub element: Element,
    /// The number along each dimension.
    pub shape: Index,
    /// Its place.
    pub location: DLDevice,
    /// The first element's address there; 0 if there is none.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
}

/// An array's elements in C order.
#[derive(Debug)]
pub struct Elements {
    /// Their type.
    pub element: Element,
    /// The number along each dimension.
    pub shape: Index,
    /// Their memory form.
    pub bytes: Vec<u8>,
}

impl<M: ManagedTensorBase> From<Managed<M>> for Borrowed {
    fn from(managed: Managed<M>) -> Borrowed {
        // SAFETY: owned, and read before anybody else may touch it.
        let tensor = unsafe { *managed.tensor() };
        // SAFETY: as above.
        let is_versioned = unsafe { &*managed.as_ptr() }.version().is_some();
        let is_writable = is_versioned && !managed.flags().contains(DlpackFlags::READ_ONLY);
        Borrowed { tensor, is_writable, _owner: managed.into_deleter() }
    }
}

impl Borrowed {
    /// Number of dimensions that the description claims.
    pub fn rank(&self) -> i32 {
        self.tensor.ndim
    }

    /// True if the producer says that the memory may be written; structs from before version 1 say nothing.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// The memory, to be used where it is for as long as this value lives.
    ///
    /// # Errors
    /// Memory that is not in C order, or neither the host's nor a CUDA device's; types that the engine lacks;
    /// addresses that the type does not allow; bools other than 0 and 1; descriptions that cannot be.
    pub fn memory(&self) -> Result<ForeignMemory, ImportRefusal> {
        let array = &self.tensor;
        let layout = Layout::of(array)?;
        let DLTensor { device: location, byte_offset, .. } = *array;
        let on_host = is_on_host(location);
        if !on_host && location.device_type != DLDeviceType::CUDA {
            return Err(elsewhere(location));
        }
        let (element, shape) = (layout.element, layout.shape);
        let size = element.dtype().size_bytes();
        let bytes = layout.count()? * element.size_bytes();
        if !layout.is_packed() {
            return Err(ImportRefusal::new(format!(
                "expected elements in C order, given strides {}",
                layout.strides
            )));
        }
        let address = if bytes == 0 { 0 } else { layout.start(array)? };
        if !address.is_multiple_of(size as u64) {
            let given = format!("{:?} and an offset of {byte_offset} bytes", array.data);
            return Err(ImportRefusal::new(format!(
                "expected an address that is a multiple of {size}, given {given}"
            )));
        }
        if element == Element::Real(DType::Bool) && on_host && bytes > 0 {
            let first = array.data.cast::<u8>().wrapping_add(byte_offset as usize);
            // SAFETY: the producer says that every element is readable, and they lie one behind the other.
            let held = unsafe { std::slice::from_raw_parts(first, bytes) };
            if held.iter().fold(0, |all, byte| all | byte) > 1 {
                return Err(ImportRefusal::new("expected bools of 0 and 1, given other bytes".to_owned()));
            }
        }
        Ok(ForeignMemory { element, shape, location, address, bytes: bytes as u64 })
    }

    /// A copy of the elements.
    ///
    /// # Errors
    /// Memory that cannot be read here, types that the engine lacks, and descriptions that cannot be.
    pub fn elements(&self) -> Result<Elements, ImportRefusal> {
        let array = &self.tensor;
        let layout = Layout::of(array)?;
        if !is_on_host(array.device) {
            return Err(elsewhere(array.device));
        }
        let mut bytes = vec![0; layout.count()? * layout.element.size_bytes()];
        if !bytes.is_empty() {
            let first = std::ptr::with_exposed_provenance(layout.start(array)? as usize);
            // SAFETY: the producer says that every element of the shape is readable at its strides from here.
            unsafe { layout.gather(first, &mut bytes) };
        }
        if layout.element == Element::Real(DType::Bool) {
            // The engine relies on 0 and 1, producers need not.
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(Elements { element: layout.element, shape: layout.shape, bytes })
    }
}

fn elsewhere(location: DLDevice) -> ImportRefusal {
    let kind = location.device_type.0;
    ImportRefusal::new(format!("expected host memory, given DLPack device type {kind}"))
}

/// A description, checked.
#[derive(Debug)]
struct Layout {
    element: Element,
    shape: Index,
    /// In bytes.
    strides: Index,
}

impl Layout {
    fn of(array: &DLTensor) -> Result<Layout, ImportRefusal> {
        let Some(element) = element_of(array.dtype) else {
            let expected = "bool, int, uint, float, bfloat16, complex64 or complex128";
            return Err(ImportRefusal {
                why: format!("expected {expected}, given {}", name_of(array.dtype)),
                remedy: Some("convert it first"),
            });
        };
        let most = element.most_dimensions();
        let Some(rank) = usize::try_from(array.ndim).ok().filter(|&rank| rank <= most) else {
            let why = format!("expected 0 to {most} dimensions, given {}", array.ndim);
            return Err(ImportRefusal { why, remedy: Some("reshape it first") });
        };
        // SAFETY: the producer keeps as many extents and strides as dimensions, which are few.
        let checked = unsafe { TensorRef::from_raw(array) };
        let checked = checked
            .map_err(|error| ImportRefusal::new(format!("expected an array, given one whose {error}")))?;
        let shape = Index::from_fn(rank, |d| checked.shape()[d]);
        let mut layout = Layout { element, shape, strides: Index::zeros(rank) };
        layout.count()?;
        let mut packed = 1i64;
        for d in (0..rank).rev() {
            let stride = checked.strides().map_or(packed, |strides| strides[d]);
            let bytes = stride.checked_mul(element.size_bytes() as i64);
            // No pointer moves further than this, in either direction.
            let reach = bytes.and_then(|bytes| bytes.checked_mul(shape[d].max(1)));
            let fits = reach.is_some_and(|reach| reach.unsigned_abs() < i64::MAX as u64 / 16);
            let Some(bytes) = bytes.filter(|_| fits) else {
                let why = format!("expected a stride that fits memory, given {stride}");
                return Err(ImportRefusal::new(why));
            };
            layout.strides[d] = bytes;
            packed *= shape[d].max(1);
        }
        Ok(layout)
    }

    /// The address of the first element, if every element can have one. There is at least one.
    fn start(&self, array: &DLTensor) -> Result<u64, ImportRefusal> {
        let data = array.data.expose_provenance() as u64;
        let first = data.checked_add(array.byte_offset).and_then(|first| i64::try_from(first).ok());
        let reach = |d: usize| (self.shape[d] - 1) * self.strides[d];
        let low: i64 = (0..self.shape.rank()).map(|d| reach(d).min(0)).sum();
        let high: i64 = (0..self.shape.rank()).map(|d| reach(d).max(0)).sum();
        let beyond = high + self.element.size_bytes() as i64;
        let fits = |first: i64| first + low > 0 && first.checked_add(beyond).is_some();
        match first.filter(|&first| data != 0 && fits(first)) {
            Some(first) => Ok(first as u64),
            None => {
                let place = format!("{:?} and an offset of {} bytes", array.data, array.byte_offset);
                let form = format!("shape {}, strides {} in bytes", self.shape, self.strides);
                Err(ImportRefusal::new(format!("expected elements in memory, given {place}, {form}")))
            }
        }
    }

    /// The number of elements, whose bytes can be counted.
    fn count(&self) -> Result<usize, ImportRefusal> {
        let product = self.shape.iter().try_fold(1i64, |product, &extent| {
            // Empty dimensions do not excuse the others.
            (extent >= 0).then_some(())?;
            product.checked_mul(extent.max(1))
        });
        match product.filter(|&count| count < i64::MAX / 16) {
            Some(_) if self.shape.contains(&0) => Ok(0),
            Some(count) => Ok(count as usize),
            None => {
                Err(ImportRefusal::new(format!("expected extents that can be counted, given {}", self.shape)))
            }
        }
    }

    /// True if the elements lie one behind the other in C order. Dimensions of one element have no say.
    fn is_packed(&self) -> bool {
        let mut packed = self.element.size_bytes() as i64;
        let fits = |d: usize| {
            let fits = self.shape[d] == 1 || self.strides[d] == packed;
            packed *= self.shape[d];
            fits
        };
        self.shape.contains(&0) || (0..self.shape.rank()).rev().all(fits)
    }

    /// Copies every element, the last dimension fastest.
    ///
    /// # Safety
    /// Every element is readable at its strides from `first`. `out` has room for exactly all, at least one.
    unsafe fn gather(&self, first: *const u8, out: &mut [u8]) {
        let (rank, size) = (self.shape.rank(), self.element.size_bytes());
        let contiguous = rank > 0 && self.strides[rank - 1] == size as i64;
        let inner = if contiguous { rank - 1 } else { rank };
        let run = if contiguous { self.shape[rank - 1] as usize * size } else { size };
        let mut at = Index::zeros(rank);
        for chunk in out.chunks_exact_mut(run) {
            let offset: i64 = (0..inner).map(|d| at[d] * self.strides[d]).sum();
            let source = first.wrapping_offset(offset as isize);
            // SAFETY: `run` readable bytes, as the caller says; bytes need no alignment, and `out` is ours.
            unsafe { std::ptr::copy_nonoverlapping(source, chunk.as_mut_ptr(), run) };
            for d in (0..inner).rev() {
                at[d] += 1;
                if at[d] < self.shape[d] {
                    break;
                }
                at[d] = 0;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dlpark::ffi::{DLDataType, DLDataTypeCode, DLManagedTensor};

    use super::*;
    use crate::dlpack::dtype_of;

    fn strided(shape: &mut [i64], strides: Option<&mut [i64]>, data: *const i32) -> DLTensor {
        DLTensor {
            data: data.cast_mut().cast(),
            device: DLDevice::CPU,
            ndim: shape.len() as i32,
            dtype: dtype_of(Element::Real(DType::I32)),
            shape: shape.as_mut_ptr(),
            strides: strides.map_or(std::ptr::null_mut(), |strides| strides.as_mut_ptr()),
            byte_offset: 0,
        }
    }

    fn gathered(array: &DLTensor) -> Vec<i32> {
        let layout = Layout::of(array).unwrap();
        let mut bytes = vec![0; layout.count().unwrap() * 4];
        // SAFETY: the tests describe memory that is there.
        unsafe { layout.gather(array.data.cast(), &mut bytes) };
        bytemuck::pod_collect_to_vec(&bytes)
    }

    #[test]
    fn every_form_of_strides_is_read() {
        let data: Vec<i32> = (0..12).collect();
        assert_eq!(gathered(&strided(&mut [3, 4], None, data.as_ptr())), data);
        let columns = gathered(&strided(&mut [4, 3], Some(&mut [1, 4]), data.as_ptr()));
        assert_eq!(columns, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
        assert_eq!(gathered(&strided(&mut [3], Some(&mut [-1]), &data[2])), [2, 1, 0]);
        assert_eq!(gathered(&strided(&mut [2, 2], Some(&mut [0, 1]), data.as_ptr())), [0, 1, 0, 1]);
        assert_eq!(gathered(&strided(&mut [], None, &data[5])), [5]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let data = [0i32];
        // The descriptions point to these, so they stay.
        let (mut one, mut far, mut negative) = ([1], [i64::MAX / 8], [-3]);
        // Its bytes fit a number whose absolute value does not.
        let mut lowest = [i64::MIN / 4];
        let (mut huge, mut huge_but_empty) = ([i64::MAX, i64::MAX], [0, i64::MAX, 64]);
        let good = strided(&mut one, None, data.as_ptr());
        let refused = [
            DLTensor { dtype: DLDataType::scalar(DLDataTypeCode::COMPLEX, 32), ..good },
            DLTensor { dtype: DLDataType { lanes: 4, ..good.dtype }, ..good },
            DLTensor { ndim: -1, ..good },
            DLTensor { ndim: 65, ..good },
            DLTensor { shape: std::ptr::null_mut(), ..good },
            DLTensor { ndim: 2, shape: huge.as_mut_ptr(), ..good },
            DLTensor { strides: far.as_mut_ptr(), ..good },
            DLTensor { strides: lowest.as_mut_ptr(), ..good },
            strided(&mut negative, None, data.as_ptr()),
            strided(&mut huge_but_empty, None, data.as_ptr()),
        ];
        assert!(Layout::of(&good).is_ok());
        for (case, array) in refused.iter().enumerate() {
            assert!(Layout::of(array).is_err(), "case {case}: {array:?}");
        }
    }

    #[test]
    fn memory_is_shared_where_it_can_be() {
        let data: Vec<i32> = (0..12).collect();
        let seen = |array: DLTensor| {
            let mut head = DLManagedTensor::from_parts(array, std::ptr::null_mut(), None);
            // SAFETY: the struct outlives the value, and has no deleter.
            let borrowed = Borrowed::from(unsafe { Managed::from_raw(&raw mut head) }.unwrap());
            (borrowed.memory(), borrowed.elements())
        };
        let (mut shape, mut turned, mut one) = ([3, 4], [1, 3], [1, 99]);
        let whole = strided(&mut shape, None, data.as_ptr());
        let memory = seen(whole).0.unwrap();
        assert_eq!((memory.address, memory.bytes), (data.as_ptr().addr() as u64, 48));
        assert!(seen(DLTensor { byte_offset: 1, ndim: 0, ..whole }).0.unwrap_err().why.contains("multiple"));
        assert!(seen(DLTensor { strides: turned.as_mut_ptr(), ..whole }).0.is_err());
        let mut row = [4, 1];
        let single = DLTensor { shape: row.as_mut_ptr(), strides: one.as_mut_ptr(), ..whole };
        assert_eq!(seen(single).0.unwrap().bytes, 16);
        let gpu = DLTensor { device: DLDevice::cuda(1), ..whole };
        assert_eq!(seen(gpu).0.unwrap().location.device_id, 1);
        assert!(seen(gpu).1.is_err());
        assert!(
            seen(DLTensor { device: DLDevice { device_type: DLDeviceType::OPENCL, device_id: 0 }, ..whole })
                .0
                .is_err()
        );
        assert!(seen(DLTensor { data: std::ptr::null_mut(), ..whole }).0.is_err());
        let bytes = [0u8, 1, 2];
        let mut three = [3];
        let flags = DLTensor {
            data: bytes.as_ptr().cast_mut().cast(),
            dtype: dtype_of(Element::Real(DType::Bool)),
            ..strided(&mut three, None, data.as_ptr())
        };
        assert!(seen(flags).0.is_err());
        let mut two = [2];
        assert!(seen(DLTensor { shape: two.as_mut_ptr(), ..flags }).0.is_ok());
    }
}
