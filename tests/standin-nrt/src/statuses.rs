//! The statuses of `nrt_status.h` that the stand-in answers by itself.

use std::ffi::c_int;

pub(crate) const SUCCESS: c_int = 0;
pub(crate) const FAILURE: c_int = 1;
pub(crate) const INVALID: c_int = 2;
pub(crate) const INVALID_HANDLE: c_int = 3;
pub(crate) const RESOURCE: c_int = 4;
pub(crate) const TIMEOUT: c_int = 5;
/// The troubleshooting guide of `nrtpy` has this one for a NEFF of other hardware.
pub(crate) const HW_ERROR: c_int = 6;
pub(crate) const LOAD_NOT_ENOUGH_NC: c_int = 9;
pub(crate) const UNSUPPORTED_NEFF_VERSION: c_int = 10;
pub(crate) const UNINITIALIZED: c_int = 13;
pub(crate) const CLOSED: c_int = 14;
pub(crate) const EXEC_BAD_INPUT: c_int = 1002;
pub(crate) const HW_ERR_COLLECTIVES: c_int = 1200;
