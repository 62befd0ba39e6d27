//! Finds where JSON values begin and end without reading them: strings, escapes and depth, nothing else.
//! Knows no meaning and does not validate; the parser behind it does.

/// Where a scan inside one value stands; can be fed piece by piece.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    /// Open objects and arrays.
    pub(super) depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    /// Feeds one byte; true if the byte closes the outermost object or array.
    pub(super) fn feed(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }

    /// Whether the scan is inside a string.
    pub(super) fn in_string(&self) -> bool {
        self.in_string
    }
}

/// Length of the object or array at the start of `bytes`, if it ends within.
pub(super) fn balanced(bytes: &[u8]) -> Option<usize> {
    let mut scan = Scan::default();
    bytes.iter().position(|b| scan.feed(*b)).map(|at| at + 1)
}
