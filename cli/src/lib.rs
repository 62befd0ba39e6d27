//! The command line of Unbroken: what was asked for, and who answers it.
//! Knows no rule of either half and no way to render.

pub mod lint;
