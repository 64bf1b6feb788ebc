//! The used part of the declarations in the public headers of libnrt.

use std::ffi::{c_char, c_int};
use std::marker::{PhantomData, PhantomPinned};

/// The major version of the interface that this build was written for: `NRT_MAJOR_VERSION` of `nrt.h`.
pub(crate) const MAJOR_VERSION: u64 = 2;

/// `NRT_FRAMEWORK_TYPE_NO_FW` of `nrt.h`: the caller is no framework.
pub(crate) const NO_FRAMEWORK: c_int = 1;

/// `NRT_TENSOR_PLACEMENT_DEVICE` of `nrt.h`, which the guide names for all hardware but Inferentia 1.
pub(crate) const ON_DEVICE: c_int = 0;

/// Any number of cores: `nrt.h` says of `vnc_count` to give always this.
pub(crate) const ANY_COUNT: i32 = -1;

/// `NRT_TENSOR_USAGE_INPUT` of `nrt_experimental.h`.
pub(crate) const USAGE_INPUT: c_int = 0;

/// `NRT_TENSOR_USAGE_OUTPUT` of `nrt_experimental.h`, the one after it.
pub(crate) const USAGE_OUTPUT: c_int = 1;

/// `NRT_TENSOR_NAME_MAX` of `nrt_experimental.h`: the bytes of a name, with the zero that ends it.
pub(crate) const NAME_BYTES: usize = 256;

/// `RT_VERSION_DETAIL_LEN` of `nrt_version.h`.
pub(crate) const DETAIL_BYTES: usize = 128;

/// `GIT_HASH_LEN` of `nrt_version.h`.
pub(crate) const HASH_BYTES: usize = 64;

/// Something of the library's that is known by its address alone, and may be moved between threads by none but its owner.
macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub(crate) struct $name {
            none: [u8; 0],
            pinned: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )*};
}

opaque! {
    /// `nrt_model_t`: a NEFF that was loaded.
    Model;
    /// `nrt_tensor_t`: memory for an array.
    Tensor;
    /// `nrt_tensor_set_t`: tensors by name.
    TensorSet;
}

/// `nrt_version_t` of `nrt_version.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Version {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    pub(crate) patch: u64,
    pub(crate) maintenance: u64,
    pub(crate) detail: [c_char; DETAIL_BYTES],
    pub(crate) git_hash: [c_char; HASH_BYTES],
}

/// `nrt_tensor_info_t` of `nrt_experimental.h`: what a NEFF says of one of its tensors.
///
/// The numbers of `dtype` differ between releases: up to SDK 2.2x this header counts them from `NRT_DTYPE_FLOAT32 = 1`, later ones take
/// those of `nrt.h` (`NRT_DTYPE_FLOAT32 = 0xA`), and the troubleshooting guide of `nrtpy` says that they are not always reported. So
/// they are not looked at; nor are `shape` and `ndim`, of which no source says whether they are the sizes of the HLO.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct TensorInfo {
    pub(crate) name: [c_char; NAME_BYTES],
    pub(crate) usage: c_int,
    /// In bytes.
    pub(crate) size: usize,
    pub(crate) dtype: c_int,
    pub(crate) shape: *mut u32,
    pub(crate) ndim: u32,
}

/// The head of `nrt_tensor_info_array_t` of `nrt_experimental.h`; the infos stand behind it.
#[repr(C)]
pub(crate) struct TensorInfoArray {
    pub(crate) count: u64,
    pub(crate) infos: [TensorInfo; 0],
}
