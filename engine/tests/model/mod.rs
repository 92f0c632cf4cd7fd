//! A small array over a mapped domain, for tests of domains: every part keeps its values.

#![allow(clippy::unwrap_used, dead_code)]

use std::collections::HashMap;

use partita::index::{Domain, Index, MappedDomain};

#[derive(Debug)]
pub struct ModelArray<T> {
    pub domain: MappedDomain,
    parts: Vec<HashMap<Index, T>>,
}

impl<T: Copy + Default + 'static> ModelArray<T> {
    pub fn new(domain: &MappedDomain, value: impl Fn(&Index) -> T) -> ModelArray<T> {
        let mut parts = vec![HashMap::new(); domain.map().unwrap().parts()];
        for index in domain.indices().iter() {
            parts[domain.index_to_part(&index).unwrap()].insert(index, value(&index));
        }
        ModelArray { domain: domain.clone(), parts }
    }

    /// The part whose memory really has the value.
    pub fn lives_at(&self, index: &Index) -> Option<usize> {
        self.parts.iter().position(|part| part.contains_key(index))
    }

    pub fn access(&mut self, index: &[i64]) -> &mut T {
        let owner = self.domain.index_to_part(index).unwrap();
        self.parts[owner].get_mut(&Index::new(index).unwrap()).unwrap()
    }

    pub fn read(&self, index: &[i64]) -> T {
        let index = Index::new(index).unwrap();
        *self.parts.iter().find_map(|part| part.get(&index)).unwrap()
    }

    pub fn values(&self) -> Vec<T> {
        self.domain.indices().iter().map(|index| self.read(&index)).collect()
    }

    /// New memory for `indices`; what was there before keeps its values, the rest is the default.
    pub fn resize(&mut self, indices: Domain) {
        let old = std::mem::take(&mut self.parts);
        let kept = self.domain.set_indices(indices).unwrap();
        let value = |index: &Index| old.iter().find_map(|part| part.get(index)).copied().unwrap_or_default();
        self.parts =
            ModelArray::new(
                &self.domain,
                |index| {
                    if kept.member(index) { value(index) } else { T::default() }
                },
            )
            .parts;
    }
}
