//! What must hold across the crates: the tests lie in `tests/`.
//! Knows nothing that a release needs.
