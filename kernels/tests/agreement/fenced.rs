//! Memory that ends where a page begins that cannot be touched.

use memmap2::MmapMut;

const PAGE: usize = 4096;

/// Bytes before a page that cannot be touched.
pub struct Fenced {
    map: MmapMut,
    first: usize,
    len: usize,
}

impl Fenced {
    pub fn new(bytes: &[u8]) -> Fenced {
        let pages = bytes.len().div_ceil(PAGE).max(1);
        let mut map = MmapMut::map_anon((pages + 1) * PAGE).unwrap();
        let first = pages * PAGE - bytes.len();
        map[first..pages * PAGE].copy_from_slice(bytes);
        // SAFETY: the last page of the map, which holds nothing; `bytes` never refers to it.
        let done =
            unsafe { libc::mprotect(map.as_mut_ptr().add(pages * PAGE).cast(), PAGE, libc::PROT_NONE) };
        assert_eq!(done, 0);
        Fenced { map, first, len: bytes.len() }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.map[self.first..self.first + self.len]
    }
}
