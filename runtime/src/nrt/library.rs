//! The opened library: its functions.

use super::ffi::{Model, Tensor, TensorInfoArray, TensorSet, Version};
use libloading::Library;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library, which stays open until the process ends, since it has threads of its own.
        #[allow(non_snake_case, reason = "the names are those of the headers")]
        pub(super) struct Functions {
            $($(#[$doc])* pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn of(library: &'static Library) -> Result<Self, String> {
                Ok(Self {$(
                    $name: {
                        let symbol = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the headers declare the symbol with this type.
                        let found = unsafe { library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(symbol) };
                        *found.map_err(|_| format!("it has no function `{}`", stringify!($name)))?
                    },
                )*})
            }
        }
    };
}

functions! {
    /// Fills the version, of which so many bytes are wanted. It may be called before the runtime is started.
    nrt_get_version(*mut Version, usize) -> c_int;
    /// Starts the runtime for a framework, with its version and that of its abstraction.
    nrt_init(c_int, *const c_char, *const c_char) -> c_int;
    /// Ends the runtime. `nrt.h` has it return nothing, the guide a status: nothing is read.
    nrt_close();
    /// The logical cores that this process has.
    nrt_get_visible_vnc_count(*mut u32) -> c_int;
    /// Loads a NEFF from its bytes, on the core of this number, on so many.
    nrt_load(*const c_void, usize, i32, i32, *mut *mut Model) -> c_int;
    /// The same for a NEFF with collectives: then its rank among how many.
    nrt_load_collectives(*const c_void, usize, i32, i32, u32, u32, *mut *mut Model) -> c_int;
    /// Frees what was loaded.
    nrt_unload(*mut Model) -> c_int;
    /// Allocates descriptions of a NEFF's tensors, to be freed by the next function.
    nrt_get_model_tensor_info(*mut Model, *mut *mut TensorInfoArray) -> c_int;
    /// Frees those descriptions.
    nrt_free_model_tensor_info(*mut TensorInfoArray) -> c_int;
    /// Allocates a set without tensors.
    nrt_allocate_tensor_set(*mut *mut TensorSet) -> c_int;
    /// Frees a set, not its tensors.
    nrt_destroy_tensor_set(*mut *mut TensorSet);
    /// Puts a tensor into a set under a name. The tensor stays alive until the set is freed.
    nrt_add_tensor_to_tensor_set(*mut TensorSet, *const c_char, *mut Tensor) -> c_int;
    /// Runs what was loaded on inputs, and waits.
    nrt_execute(*mut Model, *const TensorSet, *mut TensorSet) -> c_int;
    /// Allocates a tensor in a place, on a core, of so many bytes, under a name for messages.
    nrt_tensor_allocate(c_int, c_int, usize, *const c_char, *mut *mut Tensor) -> c_int;
    /// Frees a tensor.
    nrt_tensor_free(*mut *mut Tensor);
    /// Copies to the host from an offset, so many bytes.
    nrt_tensor_read(*const Tensor, *mut c_void, usize, usize) -> c_int;
    /// Copies from the host to an offset, so many bytes.
    nrt_tensor_write(*mut Tensor, *const c_void, usize, usize) -> c_int;
}

impl Functions {
    /// Opens the library for good.
    ///
    /// # Errors
    /// The loader's words, or the function that is missing.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: running a library's initializers is as safe as the library is; the caller chose it.
        let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
        Self::of(Box::leak(Box::new(library)))
    }
}
