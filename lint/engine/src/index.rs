//! Maps that are asked far more often than they are filled: with a hash of few instructions.
//! Refuses keys from a network: the names in a crate are its owner's, and nobody floods a lint of his own code.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by a fast hash, the same in every run.
pub(crate) type Index<K, V> = HashMap<K, V, BuildHasherDefault<Mixed>>;

/// Multiplies to twice the width and folds, eight bytes at a time, as `foldhash` does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixed(u64);

impl Mixed {
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide as u64) ^ (wide >> 64) as u64 ^ 0x2545_f491_4f6c_dd1d;
    }
}

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, figure: u8) {
        self.mix(u64::from(figure));
    }

    fn write_u32(&mut self, figure: u32) {
        self.mix(u64::from(figure));
    }

    fn write_usize(&mut self, figure: usize) {
        self.mix(figure as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_names_do_not_share_a_hash() {
        let of = |text: &str| {
            let mut hash = Mixed::default();
            hash.write(text.as_bytes());
            hash.write_u8(0xff);
            hash.finish()
        };
        let names: Vec<u64> = (0..10_000).map(|at| of(&format!("call_{at}"))).collect();
        let full: std::collections::BTreeSet<&u64> = names.iter().collect();
        assert_eq!(full.len(), names.len());
        let buckets: std::collections::BTreeSet<u64> = names.iter().map(|hash| hash & 0xfff).collect();
        assert!(buckets.len() > 3_500, "{} of 4096 buckets", buckets.len());
    }
}
