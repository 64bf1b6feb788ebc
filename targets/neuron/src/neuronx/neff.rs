//! Whether a file may be a NEFF.

/// The bytes before the archive in a NEFF.
///
/// Source: AWS Neuron SDK, `neuron-packager`: a header of this size, then a tar archive. The contents of the header are not public.
const HEADER: usize = 1024;

/// Returns the fault of a file that the compiler left as a NEFF, in words that follow "it".
///
/// Little of the format is public, so that this finds files that are cut off or blank and no more.
pub(super) fn fault(bytes: &[u8]) -> Option<String> {
    let blank = |part: &[u8]| part.iter().all(|&byte| byte == 0);
    match bytes.split_at_checked(HEADER) {
        None if bytes.is_empty() => Some("is empty".to_owned()),
        None => Some(format!("has {} bytes, fewer than the header of {HEADER}", bytes.len())),
        Some((_, [])) => Some("ends after its header".to_owned()),
        Some((header, payload)) if blank(header) || blank(payload) => Some("holds zeros only".to_owned()),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_and_blank_files_are_no_neffs() {
        let whole = [[1; HEADER].as_slice(), &[2; 10]].concat();
        assert_eq!(fault(&whole), None);
        for wrong in
            [&whole[..0], &whole[..100], &whole[..HEADER], &[0; 4000], &[[1; HEADER].as_slice(), &[0]].concat()]
        {
            assert!(fault(wrong).is_some(), "{}", wrong.len());
        }
    }
}
