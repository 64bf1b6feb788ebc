//! The framing of TFRecord files: length, its checksum, data, their checksum.

/// The number that is added to a rotated checksum, so that checksums of data that hold checksums are sound.
const MASK: u32 = 0xa282_ead8;

/// Adds a record.
pub(super) fn add(file: &mut Vec<u8>, data: &[u8]) {
    let length = (data.len() as u64).to_le_bytes();
    file.extend(length);
    file.extend(masked(&length));
    file.extend(data);
    file.extend(masked(data));
}

fn masked(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(MASK).to_le_bytes()
}
