//! An opened plugin: its function table.

use super::ffi::{self, Arguments, Function};
use crate::{Result, RuntimeError, Status, StatusCode};
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

/// An opened plugin. It stays open until the process ends, since XLA keeps threads of its own.
#[derive(Clone, Copy)]
pub(super) struct Plugin(&'static ffi::Api);

// SAFETY: the table is immutable and the PJRT C API may be called from any thread.
unsafe impl Send for Plugin {}
// SAFETY: as above.
unsafe impl Sync for Plugin {}

/// The plugins of this process, so that each is opened and initialized once.
static OPENED: Mutex<BTreeMap<PathBuf, Plugin>> = Mutex::new(BTreeMap::new());

/// The process that has called a plugin. One that was forked from it has none of the threads that the plugin waits for.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// The error message in a forked process.
const FORKED: &str = "this process was forked from one that has run programs, whose threads it lacks: start it anew, in Python's \
                      multiprocessing with the method `spawn`, or run no program before the fork";

impl Plugin {
    /// Opens and initializes the plugin at `path`, or returns it when it is open already.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |reason: String| RuntimeError::PluginLoad { path: path.to_path_buf(), reason };
        let path = path.canonicalize().map_err(|error| failed(error.to_string()))?;
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plugin) = opened.get(&path) {
            return Ok(*plugin);
        }
        let plugin = Self::load(&path)?;
        // SAFETY: the arguments hold no pointers.
        unsafe { plugin.call(&mut ffi::PluginInitialize::new()) }.map_err(|status| failed(status.to_string()))?;
        opened.insert(path, plugin);
        Ok(plugin)
    }

    fn load(path: &Path) -> Result<Self> {
        let failed = |reason: String| RuntimeError::PluginLoad { path: path.to_path_buf(), reason };
        // SAFETY: running a library's initializers is as safe as the library is; the caller chose it.
        let library = unsafe { Library::new(path) }.map_err(|error| failed(error.to_string()))?;
        // The library is never closed: its threads outlive everything that is owned here.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the symbol has this type in every version of the API.
        let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const ffi::Api>(b"GetPjrtApi\0") };
        let entry = entry.map_err(|error| failed(error.to_string()))?;
        // SAFETY: the function takes nothing and returns a table that lives as long as the library, or null.
        let api = unsafe { entry().as_ref::<'static>() };
        let api = api.ok_or_else(|| failed("`GetPjrtApi` returned null".into()))?;
        if !api.is_usable() {
            let (found, needed) = ((api.major, api.minor), ffi::VERSION);
            return Err(RuntimeError::ApiVersion { path: path.to_path_buf(), found, needed });
        }
        Ok(Self(api))
    }

    /// Calls the function that `args` belongs to.
    ///
    /// # Safety
    /// Every pointer in `args` is what the function asks for: valid, of the right kind, and not freed.
    pub(super) unsafe fn call<A: Arguments>(self, args: &mut A) -> std::result::Result<(), Status> {
        let function = self.function::<A>()?;
        if *PROCESS.get_or_init(std::process::id) != std::process::id() {
            return Err(Status::new(StatusCode::FailedPrecondition, FORKED));
        }
        // SAFETY: the caller vouches for the pointers, `Arguments` for the struct.
        let error = unsafe { function(ptr::from_mut(args).cast()) };
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: a function other than those for errors returns null or an error that is ours to free.
        Err(unsafe { self.take_error(error) })
    }

    fn function<A: Arguments>(self) -> std::result::Result<Function, Status> {
        let table = ptr::from_ref(self.0).wrapping_add(1).cast::<Option<Function>>();
        // SAFETY: `load` has checked (`is_usable`) that the table holds `NUM_FUNCTIONS` entries behind its header, and `POSITION` is
        // smaller; an entry is a function pointer or null.
        let function = unsafe { *table.wrapping_add(A::POSITION) };
        let missing = || Status::new(StatusCode::Unimplemented, format!("the plugin lacks function {}", A::POSITION));
        function.ok_or_else(missing)
    }

    /// Reads and frees an error.
    ///
    /// # Safety
    /// `error` is an error of this plugin that has not been freed.
    unsafe fn take_error(self, error: *mut ffi::Error) -> Status {
        let mut code = ffi::ErrorGetCode { error, ..ffi::ErrorGetCode::new() };
        let mut message = ffi::ErrorMessage { error, ..ffi::ErrorMessage::new() };
        let mut destroy = ffi::ErrorDestroy { error, ..ffi::ErrorDestroy::new() };
        // SAFETY: the error is valid until it is destroyed in the end; the text, which has its lifetime, is copied
        // before that.
        unsafe {
            if let Ok(function) = self.function::<ffi::ErrorGetCode>() {
                function((&raw mut code).cast());
            }
            self.call_for_errors(&mut message);
            let text = copy_text(message.message, message.message_size);
            self.call_for_errors(&mut destroy);
            Status::new(StatusCode::from_number(code.code), text)
        }
    }

    /// Calls one of the two functions that return nothing, those that read and free an error's text.
    ///
    /// # Safety
    /// As [`call`](Self::call), and `A` is [`ffi::ErrorMessage`] or [`ffi::ErrorDestroy`].
    unsafe fn call_for_errors<A: Arguments>(self, args: &mut A) {
        if let Ok(function) = self.function::<A>() {
            // SAFETY: this is the type these two functions have; the caller vouches for the pointers.
            unsafe {
                let function: unsafe extern "C" fn(*mut c_void) = std::mem::transmute(function);
                function(ptr::from_mut(args).cast());
            }
        }
    }
}

/// Copies a text that a plugin owns.
///
/// # Safety
/// `text` is null or points to `size` bytes.
pub(super) unsafe fn copy_text(text: *const c_char, size: usize) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller vouches for pointer and size.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) };
    String::from_utf8_lossy(bytes).into_owned()
}
