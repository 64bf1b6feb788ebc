//! Places in texts, for people.

use super::coding::Coding;
use crate::files::Origin;
use std::io::Read;

/// `FILE:LINE` of a byte of a text, or the byte where the text before it cannot be read.
pub(crate) fn locate(origin: &Origin, coding: Coding, at: u64) -> String {
    let path = &origin.path;
    match count_lines(origin, coding, at) {
        Some(lines) => format!("{}:{}", path.display(), lines + 1),
        None => format!("{}, byte {at} of the text", path.display()),
    }
}

/// The number of lines that end before a byte.
fn count_lines(origin: &Origin, coding: Coding, at: u64) -> Option<usize> {
    let mut text = coding.open(origin, 0).ok()?.take(at);
    let (mut buffer, mut lines) = ([0; 1 << 14], 0);
    loop {
        match text.read(&mut buffer).ok()? {
            0 => return Some(lines),
            read => lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count(),
        }
    }
}
