//! Maps and sets whose hashes are quick and seeded anew in each run, so that no log can choose what collides.
//! Knows nothing of what they hold; nothing may depend on the order of their entries.

/// How they hash.
type BuildRapid = rapidhash::fast::RandomState;
/// A map.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, BuildRapid>;
/// A set.
pub(crate) type HashSet<K> = std::collections::HashSet<K, BuildRapid>;
