//! Moving rectangles of elements between memory and dense boxes: rows as they lie, in steps, backwards, and
//! transposed by square blocks. Nothing is read or written but the elements themselves. It does not know
//! types beyond their size, nor why elements move.

use std::marker::PhantomData;

use super::level::{Level, Loop, compiled};
use super::loops::copy::{Row, move_row, stream_bytes};

/// A rectangle of elements: the first one, the bytes to the row below, and to the next lane of a row.
#[derive(Clone, Copy)]
pub(super) struct Sheet {
    pub ptr: *mut u8,
    pub down: isize,
    pub along: isize,
}

impl Sheet {
    fn turned(self) -> Sheet {
        Sheet { ptr: self.ptr, down: self.along, along: self.down }
    }

    /// The same lanes from the last one on.
    fn flipped_along(self, lanes: usize) -> Sheet {
        let ptr = self.ptr.wrapping_offset((lanes as isize - 1) * self.along);
        Sheet { ptr, along: -self.along, ..self }
    }

    fn flipped_down(self, rows: usize) -> Sheet {
        self.turned().flipped_along(rows).turned()
    }

    fn row(self, n: usize) -> Row {
        Row { ptr: self.ptr.wrapping_offset(n as isize * self.down), stride_bytes: self.along }
    }
}

/// What the loops below work on: a row, or all rows of a sheet that is turned.
struct Ends {
    to: Sheet,
    from: Sheet,
    rows: usize,
    lanes: usize,
    stream: bool,
}

/// Moves sheets with the loops of a level.
#[derive(Clone, Copy)]
pub(super) struct Packer {
    level: Level,
}

/// How lanes follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Side by side on both ends.
    Rows,
    /// Read in steps of so many elements, and written side by side.
    Gathered(isize),
    /// Read side by side, and written in steps.
    Spread(isize),
    /// Written side by side, and read side by side across the rows.
    Turned,
    /// Any other way.
    Single,
}

impl Packer {
    pub(super) fn new(level: Level) -> Packer {
        Packer { level }
    }

    /// Copies `rows` and `lanes` of elements of `bytes` bytes, past the caches where that is asked for and
    /// lines are written whole.
    ///
    /// # Safety
    /// All elements of `from` are valid for reading and those of `to` for writing; they do not overlap.
    pub(super) unsafe fn move_sheet(
        &self,
        to: Sheet,
        from: Sheet,
        (rows, lanes): (usize, usize),
        bytes: usize,
        stream: bool,
    ) {
        let (mut ends, way) = arranged(Ends { to, from, rows, lanes, stream }, bytes as isize);
        // SAFETY: the caller's promise; the loops move the elements of these ends, and no others.
        unsafe {
            match (way, bytes) {
                (Way::Turned, 1) => turned::<u8>(self.level)(&ends),
                (Way::Turned, 2) => turned::<u16>(self.level)(&ends),
                (Way::Turned, 4) => turned_words(self.level)(&ends),
                (Way::Turned, _) => turned_longs(self.level)(&ends),
                (Way::Rows, _) => {
                    for n in 0..ends.rows {
                        let (to, from, length) = (ends.to.row(n), ends.from.row(n), ends.lanes * bytes);
                        match stream {
                            true => stream_bytes(to.ptr, from.ptr, length),
                            false => std::ptr::copy_nonoverlapping(from.ptr, to.ptr, length),
                        }
                    }
                }
                (way, _) => match one_row(self.level, way, bytes) {
                    Some(f) => {
                        for _ in 0..ends.rows {
                            f(&ends);
                            ends.to.ptr = ends.to.ptr.wrapping_offset(ends.to.down);
                            ends.from.ptr = ends.from.ptr.wrapping_offset(ends.from.down);
                        }
                    }
                    None => (0..ends.rows)
                        .for_each(|n| move_row(ends.to.row(n), ends.from.row(n), ends.lanes, bytes)),
                },
            }
        }
    }
}

/// The same elements in the order that is best, and what that is.
fn arranged(mut ends: Ends, bytes: isize) -> (Ends, Way) {
    let unit = |stride: isize| stride.abs() == bytes;
    let (to, from) = (ends.to, ends.from);
    let far = |to: isize, from: isize| to.unsigned_abs() + from.unsigned_abs();
    let across = ends.rows > 1
        && match (unit(to.along), unit(to.down), unit(from.along), unit(from.down)) {
            // Written side by side; read so, or in small steps, or across.
            (true, _, true, _) => false,
            (true, _, _, true) => false,
            (_, true, _, true) | (_, true, true, _) => true,
            _ => far(to.down, from.down) < far(to.along, from.along),
        };
    if across {
        ends = Ends { to: to.turned(), from: from.turned(), rows: ends.lanes, lanes: ends.rows, ..ends };
    }
    if ends.to.along < 0 {
        (ends.to, ends.from) = (ends.to.flipped_along(ends.lanes), ends.from.flipped_along(ends.lanes));
    }
    let whole = |stride: isize| stride % bytes == 0;
    let way = match (ends.to.along / bytes, ends.from.along / bytes) {
        _ if !whole(ends.to.along) || !whole(ends.from.along) => Way::Single,
        (1, 1) => Way::Rows,
        (1, _) if ends.rows > 1 && unit(ends.from.down) => Way::Turned,
        (1, step) => Way::Gathered(step),
        (step, 1) => Way::Spread(step),
        _ => Way::Single,
    };
    if way == Way::Turned && ends.from.down < 0 {
        (ends.to, ends.from) = (ends.to.flipped_down(ends.rows), ends.from.flipped_down(ends.rows));
    }
    (ends, way)
}

type RowLoop = unsafe fn(&Ends);

/// A loop over one row, if there is one for these steps.
fn one_row(level: Level, way: Way, bytes: usize) -> Option<RowLoop> {
    match (way, bytes) {
        (Way::Gathered(step), 1) => gathered::<u8>(level, step),
        (Way::Gathered(step), 2) => gathered::<u16>(level, step),
        (Way::Gathered(step), 4) => gathered::<u32>(level, step),
        (Way::Gathered(step), _) => gathered::<u64>(level, step),
        #[cfg(target_arch = "x86_64")]
        (Way::Spread(step), 4 | 8) if level >= Level::Avx512 => wide::spread(step, bytes),
        (Way::Spread(_) | Way::Rows | Way::Turned | Way::Single, _) => None,
    }
}

/// Lanes that lie `STEP` elements apart.
struct Gathered<T, const STEP: isize>(PhantomData<T>);

impl<T: Copy, const STEP: isize> Loop for Gathered<T, STEP> {
    type Args = Ends;

    #[inline(always)]
    unsafe fn run(ends: &Ends) {
        let (to, from) = (ends.to.ptr.cast::<T>(), ends.from.ptr.cast::<T>());
        for k in 0..ends.lanes as isize {
            // SAFETY: the caller's promise, of these lanes.
            unsafe { to.offset(k).write_unaligned(from.offset(k * STEP).read_unaligned()) };
        }
    }
}

fn gathered<T: Copy>(level: Level, step: isize) -> Option<RowLoop> {
    Some(match step {
        2 => compiled::<Gathered<T, 2>>(level),
        3 => compiled::<Gathered<T, 3>>(level),
        4 => compiled::<Gathered<T, 4>>(level),
        -1 => compiled::<Gathered<T, -1>>(level),
        -2 => compiled::<Gathered<T, -2>>(level),
        -3 => compiled::<Gathered<T, -3>>(level),
        -4 => compiled::<Gathered<T, -4>>(level),
        _ => return None,
    })
}

/// Rows and lanes exchanged, by blocks of 16: whole lines of what is read are used at once, so that it does
/// not matter which others they drive out of the cache.
struct Turned<T>(PhantomData<T>);

const BLOCK: usize = 16;

impl<T: Copy> Loop for Turned<T> {
    type Args = Ends;

    #[inline(always)]
    unsafe fn run(ends: &Ends) {
        for lane in (0..ends.lanes).step_by(BLOCK) {
            let lanes = BLOCK.min(ends.lanes - lane);
            for row in (0..ends.rows).step_by(BLOCK) {
                // SAFETY: the caller's promise, of a block of its elements.
                unsafe { piece::<T>(ends, (row, BLOCK.min(ends.rows - row)), (lane, lanes)) };
            }
        }
    }
}

/// Some rows and lanes of a turned sheet, one element after the other.
#[inline(always)]
unsafe fn piece<T: Copy>(ends: &Ends, (row, rows): (usize, usize), (lane, lanes): (usize, usize)) {
    for r in (row..row + rows).map(|r| r as isize) {
        for l in (lane..lane + lanes).map(|l| l as isize) {
            let to = ends.to.ptr.wrapping_offset(r * ends.to.down).cast::<T>().wrapping_offset(l);
            let from = ends.from.ptr.wrapping_offset(l * ends.from.along).cast::<T>().wrapping_offset(r);
            // SAFETY: the caller's promise.
            unsafe { to.write_unaligned(from.read_unaligned()) };
        }
    }
}

fn turned<T: Copy>(level: Level) -> RowLoop {
    compiled::<Turned<T>>(level)
}

fn turned_words(level: Level) -> RowLoop {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx512Code => wide::turned_words,
        _ => turned::<u32>(level),
    }
}

fn turned_longs(level: Level) -> RowLoop {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx512Code => wide::turned_longs,
        _ => turned::<u64>(level),
    }
}

/// What AVX-512 has instructions for, and compilers do not find.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;

    use super::{Ends, RowLoop, piece};

    /// Bytes of a register, and of a cache line.
    const LINE: usize = 64;

    /// A row written in steps; what lies between is not touched.
    pub(super) fn spread(step: isize, bytes: usize) -> Option<RowLoop> {
        Some(match (step, bytes) {
            (2, 4) => spread_words::<2>,
            (3, 4) => spread_words::<3>,
            (4, 4) => spread_words::<4>,
            (2, _) => spread_longs::<2>,
            (3, _) => spread_longs::<3>,
            (4, _) => spread_longs::<4>,
            _ => return None,
        })
    }

    /// Of `lanes` lanes in register `n` of a row in steps, those that are written.
    const fn written(n: usize, lanes: usize, step: usize) -> u16 {
        let (mut mask, mut k) = (0, 0);
        while k < lanes {
            if (n * lanes + k).is_multiple_of(step) {
                mask |= 1 << k;
            }
            k += 1;
        }
        mask
    }

    /// Lanes of a row in steps in the registers before `n`.
    const fn before(n: usize, lanes: usize, step: usize) -> usize {
        (n * lanes).div_ceil(step)
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn spread_words<const STEP: usize>(ends: &Ends) {
        let (to, from) = (ends.to.ptr.cast::<i32>(), ends.from.ptr.cast::<i32>());
        let mut k = 0;
        // A register is read from the last part of a group on.
        while k + 32 <= ends.lanes {
            for n in 0..STEP {
                let mask = const { written_words::<STEP>() }[n];
                // SAFETY: 16 lanes from here on are the row's; masked lanes are not written.
                unsafe {
                    let lanes = _mm512_loadu_si512(from.add(k + before(n, 16, STEP)).cast());
                    let apart = _mm512_maskz_expand_epi32(mask, lanes);
                    _mm512_mask_storeu_epi32(to.add(k * STEP + 16 * n), mask, apart);
                }
            }
            k += 16;
        }
        for k in k..ends.lanes {
            // SAFETY: a lane of the row.
            unsafe { to.add(k * STEP).write_unaligned(from.add(k).read_unaligned()) };
        }
    }

    const fn written_words<const STEP: usize>() -> [u16; STEP] {
        let (mut masks, mut n) = ([0; STEP], 0);
        while n < STEP {
            masks[n] = written(n, 16, STEP);
            n += 1;
        }
        masks
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn spread_longs<const STEP: usize>(ends: &Ends) {
        let (to, from) = (ends.to.ptr.cast::<i64>(), ends.from.ptr.cast::<i64>());
        let mut k = 0;
        while k + 16 <= ends.lanes {
            for n in 0..STEP {
                let mask = const { written_longs::<STEP>() }[n];
                // SAFETY: 8 lanes from here on are the row's; masked lanes are not written.
                unsafe {
                    let lanes = _mm512_loadu_si512(from.add(k + before(n, 8, STEP)).cast());
                    let apart = _mm512_maskz_expand_epi64(mask, lanes);
                    _mm512_mask_storeu_epi64(to.add(k * STEP + 8 * n), mask, apart);
                }
            }
            k += 8;
        }
        for k in k..ends.lanes {
            // SAFETY: a lane of the row.
            unsafe { to.add(k * STEP).write_unaligned(from.add(k).read_unaligned()) };
        }
    }

    const fn written_longs<const STEP: usize>() -> [u8; STEP] {
        let (mut masks, mut n) = ([0; STEP], 0);
        while n < STEP {
            masks[n] = written(n, 8, STEP) as u8;
            n += 1;
        }
        masks
    }

    /// Do all rows of what is written begin lines at the same lanes?
    fn whole_lines(ends: &Ends) -> bool {
        ends.stream && (ends.to.ptr as usize).is_multiple_of(LINE) && ends.to.down % LINE as isize == 0
    }

    macro_rules! turned {
        ($name:ident, $block:ident, $kind:ty, $lanes:expr) => {
            #[target_feature(enable = "avx512f")]
            pub(super) unsafe fn $name(ends: &Ends) {
                const N: usize = $lanes;
                let (rows, lanes) = (ends.rows / N * N, ends.lanes / N * N);
                let stream = whole_lines(ends);
                for lane in (0..lanes).step_by(N) {
                    for row in (0..rows).step_by(N) {
                        let to = ends.to.ptr.wrapping_offset(row as isize * ends.to.down);
                        let to = to.wrapping_add(lane * size_of::<$kind>());
                        let from = ends.from.ptr.wrapping_offset(lane as isize * ends.from.along);
                        let from = from.wrapping_add(row * size_of::<$kind>());
                        // SAFETY: the caller's promise, of a block of its elements.
                        unsafe { $block((to, ends.to.down), (from, ends.from.along), stream) };
                    }
                }
                // SAFETY: the caller's promise, of the elements that are left.
                unsafe {
                    piece::<$kind>(ends, (rows, ends.rows - rows), (0, lanes));
                    piece::<$kind>(ends, (0, ends.rows), (lanes, ends.lanes - lanes));
                }
            }
        };
    }
    turned!(turned_words, block_of_words, u32, 16);
    turned!(turned_longs, block_of_longs, u64, 8);

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn put(to: *mut u8, register: __m512i, stream: bool) {
        // SAFETY: the caller's promise; past the caches only if it is aligned.
        unsafe {
            match stream {
                true => _mm512_stream_si512(to.cast(), register),
                false => _mm512_storeu_si512(to.cast(), register),
            }
        }
    }

    /// The quarters of four registers, exchanged: those numbered alike together.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn quarters(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> [__m512i; 4] {
        let (even, odd) = (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b));
        let (even_too, odd_too) = (_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xdd>(c, d));
        [
            _mm512_shuffle_i32x4::<0x88>(even, even_too),
            _mm512_shuffle_i32x4::<0x88>(odd, odd_too),
            _mm512_shuffle_i32x4::<0xdd>(even, even_too),
            _mm512_shuffle_i32x4::<0xdd>(odd, odd_too),
        ]
    }

    /// 16 x 16 elements of 4 bytes.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn block_of_words(to: (*mut u8, isize), from: (*mut u8, isize), stream: bool) {
        // SAFETY: the caller's promise: 16 elements side by side, 16 times.
        unsafe {
            let read = |n: usize| _mm512_loadu_si512(from.0.offset(n as isize * from.1).cast());
            let mut fours = [_mm512_setzero_si512(); 16];
            for q in 0..4 {
                let [a, b, c, d] = [read(4 * q), read(4 * q + 1), read(4 * q + 2), read(4 * q + 3)];
                let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
                let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
                fours[4 * q] = _mm512_unpacklo_epi64(ab, cd);
                fours[4 * q + 1] = _mm512_unpackhi_epi64(ab, cd);
                fours[4 * q + 2] = _mm512_unpacklo_epi64(ab_high, cd_high);
                fours[4 * q + 3] = _mm512_unpackhi_epi64(ab_high, cd_high);
            }
            for n in 0..4 {
                let rows = quarters(fours[n], fours[4 + n], fours[8 + n], fours[12 + n]);
                for (k, row) in rows.into_iter().enumerate() {
                    put(to.0.offset((4 * k + n) as isize * to.1), row, stream);
                }
            }
        }
    }

    /// 8 x 8 elements of 8 bytes.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn block_of_longs(to: (*mut u8, isize), from: (*mut u8, isize), stream: bool) {
        // SAFETY: the caller's promise: 8 elements side by side, 8 times.
        unsafe {
            let read = |n: usize| _mm512_loadu_si512(from.0.offset(n as isize * from.1).cast());
            let mut twos = [_mm512_setzero_si512(); 8];
            for q in 0..4 {
                let (a, b) = (read(2 * q), read(2 * q + 1));
                twos[2 * q] = _mm512_unpacklo_epi64(a, b);
                twos[2 * q + 1] = _mm512_unpackhi_epi64(a, b);
            }
            for n in 0..2 {
                let rows = quarters(twos[n], twos[2 + n], twos[4 + n], twos[6 + n]);
                for (k, row) in rows.into_iter().enumerate() {
                    put(to.0.offset((2 * k + n) as isize * to.1), row, stream);
                }
            }
        }
    }
}
