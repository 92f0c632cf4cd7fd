//! Copying elements of a given size: strided rows, broadcasts, and copies with non-temporal stores.
//!
//! Under Miri, non-temporal stores are plain ones.

/// A row of elements: the first one, and the bytes to the next.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Row {
    pub ptr: *mut u8,
    pub stride_bytes: isize,
}

/// Copies `count` elements of `size` bytes.
///
/// # Safety
/// Both rows are valid for `count` elements, `to` for writing; they do not overlap.
pub(in crate::cpu) unsafe fn move_row(to: Row, from: Row, count: usize, size: usize) {
    // SAFETY: the caller's promise; elements are read and written unaligned.
    unsafe {
        if to.stride_bytes == size as isize && from.stride_bytes == size as isize {
            std::ptr::copy_nonoverlapping(from.ptr, to.ptr, count * size);
            return;
        }
        match size {
            1 => move_elements::<u8>(to, from, count),
            2 => move_elements::<u16>(to, from, count),
            4 => move_elements::<u32>(to, from, count),
            _ => move_elements::<u64>(to, from, count),
        }
    }
}

unsafe fn move_elements<T: Copy>(to: Row, from: Row, count: usize) {
    let size = size_of::<T>() as isize;
    // SAFETY: the caller of `move_row` promises both rows.
    unsafe {
        if from.stride_bytes == 0 {
            let value = from.ptr.cast::<T>().read_unaligned();
            if to.stride_bytes == size {
                // A loop of its own, which compilers vectorise.
                (0..count).for_each(|k| to.ptr.cast::<T>().add(k).write_unaligned(value));
                return;
            }
            for k in 0..count as isize {
                to.ptr.offset(k * to.stride_bytes).cast::<T>().write_unaligned(value);
            }
        } else if to.stride_bytes == size {
            for k in 0..count as isize {
                let value = from.ptr.offset(k * from.stride_bytes).cast::<T>().read_unaligned();
                to.ptr.offset(k * size).cast::<T>().write_unaligned(value);
            }
        } else {
            for k in 0..count as isize {
                let value = from.ptr.offset(k * from.stride_bytes).cast::<T>().read_unaligned();
                to.ptr.offset(k * to.stride_bytes).cast::<T>().write_unaligned(value);
            }
        }
    }
}

/// Copies bytes with non-temporal stores where the CPU has them; whole cache lines only, the ends plainly.
///
/// # Safety
/// As `std::ptr::copy_nonoverlapping`.
pub(in crate::cpu) unsafe fn stream_bytes(to: *mut u8, from: *const u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    let done = {
        let head = to.align_offset(64).min(bytes);
        let lines = (bytes - head) / 64;
        // SAFETY: `head + 64 * lines <= bytes`, and `to + head` is aligned to 64.
        unsafe {
            std::ptr::copy_nonoverlapping(from, to, head);
            stream_lines(to.add(head), from.add(head), lines);
        }
        head + 64 * lines
    };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let done = 0;
    // SAFETY: the rest of the caller's bytes.
    unsafe { std::ptr::copy_nonoverlapping(from.add(done), to.add(done), bytes - done) }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn stream_lines(to: *mut u8, from: *const u8, lines: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    for line in 0..lines {
        // SAFETY: the caller promises `lines` lines, the target aligned; SSE2 is in every x86-64.
        unsafe {
            let (to, from) = (to.add(64 * line).cast::<__m128i>(), from.add(64 * line).cast::<__m128i>());
            for k in 0..4 {
                _mm_stream_si128(to.add(k), _mm_loadu_si128(from.add(k)));
            }
        }
    }
}

/// Makes streamed stores visible to other threads before anything that follows.
pub(in crate::cpu) fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is in every x86-64; a fence touches no memory.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
