//! A PJRT plugin that stands in for one of another platform, such as those for CUDA and for Neuron, on machines that have
//! neither. `tests/other_platform.rs` opens it; it is no example to follow.
//!
//! It computes on the CPU plugin that `find_plugin` finds: `GetPjrtApi` returns a copy of that plugin's table. What is
//! replaced are the places where plugins of other platforms differ from the CPU's:
//!
//! - `PJRT_Client_Create` takes no option that it does not know, `cpu_device_count` included, and none of another type than
//!   it expects. The ones it knows are named as CUDA's are; it has one device, 0, and does not reserve memory.
//! - `PJRT_Client_Compile` of a client whose platform is `neuron` takes StableHLO (`mlir`) alone, as Neuron's plugin does.
//! - `PJRT_Client_PlatformName` is what the option `platform_name` says, else `stand-in`.

#[path = "../src/pjrt/ffi.rs"]
#[allow(dead_code, reason = "the declarations are those of the library, which uses all of them")]
mod ffi;

use ffi::{Api, Arguments, Error, Function, NamedValue};
use halite_runtime::find_plugin;
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The platform when no option says otherwise.
const PLATFORM: &str = "stand-in";

/// The code of `INVALID_ARGUMENT`.
const INVALID_ARGUMENT: c_int = 3;

/// The CPU plugin's table.
static CPU: OnceLock<Table> = OnceLock::new();

/// The copy of it with our functions, as words: pointers and sizes.
static OWN: OnceLock<Vec<usize>> = OnceLock::new();

/// The platform of each client, by address. A text stays for ever, as clients are few.
static PLATFORMS: Mutex<BTreeMap<usize, &'static str>> = Mutex::new(BTreeMap::new());

/// The texts of errors that are ours and not the CPU plugin's, by address.
static REFUSALS: Mutex<BTreeMap<usize, Box<str>>> = Mutex::new(BTreeMap::new());

/// A table of functions that lives as long as the process.
struct Table(&'static Api);

// SAFETY: the table is immutable, and its functions may be called from any thread.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    /// Opens the CPU plugin for good.
    fn of_cpu() -> Option<Self> {
        // SAFETY: the plugin is the one that the tests run on.
        let library = unsafe { Library::new(find_plugin(None).ok()?) }.ok()?;
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the symbol has this type; the table that it returns lives as long as the library.
        let api = unsafe { library.get::<unsafe extern "C" fn() -> *const Api>(b"GetPjrtApi\0").ok()?().as_ref() };
        api.filter(|api| api.is_usable()).map(Self)
    }

    /// The words of the table.
    fn words(&self) -> &'static [usize] {
        let length = self.0.head.struct_size / size_of::<usize>();
        // SAFETY: the table says how long it is, and consists of numbers and pointers of this size and alignment.
        unsafe { std::slice::from_raw_parts(ptr::from_ref(self.0).cast(), length) }
    }

    /// The CPU plugin's function for these arguments.
    fn function<A: Arguments>(&self) -> Function {
        let word = self.words()[position::<A>()];
        // SAFETY: this place of the table holds the function; none of those that are asked for is missing.
        unsafe { std::mem::transmute::<usize, Function>(word) }
    }

    /// Calls the CPU plugin's function of one of the two kinds that return nothing.
    ///
    /// # Safety
    /// `A` is [`ffi::ErrorMessage`] or [`ffi::ErrorDestroy`], about an error of the CPU plugin.
    unsafe fn call_for_errors<A: Arguments>(&self, args: *mut A) {
        // SAFETY: this is the type that these two functions have; the caller vouches for the arguments.
        unsafe {
            let function: unsafe extern "C" fn(*mut c_void) = std::mem::transmute(self.function::<A>());
            function(args.cast());
        }
    }
}

/// The place of a function among the words of the table.
fn position<A: Arguments>() -> usize {
    size_of::<Api>() / size_of::<usize>() + A::POSITION
}

/// The table of this plugin; null when there is no CPU plugin.
#[unsafe(no_mangle)]
extern "C" fn GetPjrtApi() -> *const Api {
    if CPU.get().is_none() {
        match Table::of_cpu() {
            Some(table) => _ = CPU.set(table),
            None => return ptr::null(),
        }
    }
    OWN.get_or_init(|| {
        let mut words = cpu().words().to_vec();
        words[position::<ffi::ClientCreate>()] = create_client as *const () as usize;
        words[position::<ffi::ClientPlatformName>()] = platform_name as *const () as usize;
        words[position::<ffi::ClientCompile>()] = compile as *const () as usize;
        words[position::<ffi::ErrorMessage>()] = error_message as *const () as usize;
        words[position::<ffi::ErrorGetCode>()] = error_code as *const () as usize;
        words[position::<ffi::ErrorDestroy>()] = destroy_error as *const () as usize;
        words
    })
    .as_ptr()
    .cast()
}

fn cpu() -> &'static Table {
    CPU.get().expect("`GetPjrtApi` has filled it")
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn create_client(args: *mut ffi::ClientCreate) -> *mut Error {
    // SAFETY: the caller gives the struct of this function, with options that outlive the call.
    let args = unsafe { &mut *args };
    let options = match args.num_options {
        0 => &[],
        // SAFETY: as above.
        count => unsafe { std::slice::from_raw_parts(args.create_options, count) },
    };
    let mut platform = PLATFORM.to_owned();
    for option in options {
        // SAFETY: as above.
        match unsafe { take(option) } {
            Ok(Some(name)) => platform = name,
            Ok(None) => {}
            Err(reason) => return refuse(&reason),
        }
    }
    let mut inner = ffi::ClientCreate::new();
    // SAFETY: the struct is that of the function and has no options.
    let error = unsafe { cpu().function::<ffi::ClientCreate>()(ptr::from_mut(&mut inner).cast()) };
    if error.is_null() {
        args.client = inner.client;
        lock(&PLATFORMS).insert(inner.client as usize, Box::leak(platform.into_boxed_str()));
    }
    error
}

/// Takes an option: the platform's name, or one that is looked at only. Else the reason why not.
///
/// # Safety
/// The option points to what it says.
unsafe fn take(option: &NamedValue) -> Result<Option<String>, String> {
    // SAFETY: the caller vouches for the option; its type says which part of the value there is.
    unsafe {
        let name = text(option.name, option.name_size);
        match (name.as_str(), option.value_type) {
            ("platform_name", ffi::NAMED_STRING) => return Ok(Some(text(option.value.string, option.value_size))),
            ("memory_fraction", ffi::NAMED_FLOAT) if (0.0..=1.0).contains(&option.value.float) => {}
            ("memory_fraction", ffi::NAMED_FLOAT) => return Err(format!("no memory is {} of it", option.value.float)),
            ("preallocate", ffi::NAMED_BOOL) if !option.value.boolean => {}
            ("preallocate", ffi::NAMED_BOOL) => return Err("memory cannot be reserved".to_owned()),
            ("node_id", ffi::NAMED_INT64) if option.value.int64 == 0 => {}
            ("node_id", ffi::NAMED_INT64) => return Err(format!("there is no node {}", option.value.int64)),
            ("visible_devices", ffi::NAMED_INT64_LIST) => {
                let devices = std::slice::from_raw_parts(option.value.int64_list, option.value_size);
                if devices != [0] {
                    return Err(format!("the devices {devices:?} are not there"));
                }
            }
            ("platform_name" | "memory_fraction" | "preallocate" | "node_id" | "visible_devices", _) => {
                return Err(format!("the option {name} has another type"));
            }
            _ => return Err(format!("there is no option {name}")),
        }
    }
    Ok(None)
}

/// Copies a text.
///
/// # Safety
/// `start` points to `size` bytes.
unsafe fn text(start: *const c_char, size: usize) -> String {
    // SAFETY: the caller vouches for pointer and size.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(start.cast(), size) }).into_owned()
}

unsafe extern "C" fn compile(args: *mut ffi::ClientCompile) -> *mut Error {
    // SAFETY: the caller gives the struct of this function, with a program that outlives the call.
    let (client, format) = unsafe {
        let program = &*(*args).program;
        ((*args).client, text(program.format, program.format_size))
    };
    let platform = lock(&PLATFORMS).get(&(client as usize)).copied().unwrap_or(PLATFORM);
    if platform == "neuron" && format != "mlir" {
        return refuse(&format!("programs are taken as mlir, this one is {format}"));
    }
    // SAFETY: the arguments are those of the CPU plugin's function.
    unsafe { cpu().function::<ffi::ClientCompile>()(args.cast()) }
}

unsafe extern "C" fn platform_name(args: *mut ffi::ClientPlatformName) -> *mut Error {
    // SAFETY: the caller gives the struct of this function.
    let args = unsafe { &mut *args };
    let platform = lock(&PLATFORMS).get(&(args.client as usize)).copied().unwrap_or(PLATFORM);
    (args.text, args.text_size) = (platform.as_ptr().cast(), platform.len());
    ptr::null_mut()
}

/// A new error of ours. Its address is that of an allocation of its own, so that it is none of the CPU plugin's.
fn refuse(reason: &str) -> *mut Error {
    let error = Box::into_raw(Box::new(0_u64));
    lock(&REFUSALS).insert(error as usize, reason.into());
    error.cast()
}

unsafe extern "C" fn error_message(args: *mut ffi::ErrorMessage) {
    // SAFETY: the caller gives the struct of this function.
    let own = unsafe { &mut *args };
    match lock(&REFUSALS).get(&(own.error as usize)) {
        // The text lives until the error is destroyed.
        Some(text) => (own.message, own.message_size) = (text.as_ptr().cast(), text.len()),
        // SAFETY: the error is the CPU plugin's.
        None => unsafe { cpu().call_for_errors(args) },
    }
}

unsafe extern "C" fn error_code(args: *mut ffi::ErrorGetCode) -> *mut Error {
    // SAFETY: the caller gives the struct of this function.
    let own = unsafe { &mut *args };
    if lock(&REFUSALS).contains_key(&(own.error as usize)) {
        own.code = INVALID_ARGUMENT;
        return ptr::null_mut();
    }
    // SAFETY: the error is the CPU plugin's.
    unsafe { cpu().function::<ffi::ErrorGetCode>()(args.cast()) }
}

unsafe extern "C" fn destroy_error(args: *mut ffi::ErrorDestroy) {
    // SAFETY: the caller gives the struct of this function.
    let error = unsafe { (*args).error };
    if lock(&REFUSALS).remove(&(error as usize)).is_some() {
        // SAFETY: `refuse` made it this way, and it was there once.
        drop(unsafe { Box::from_raw(error.cast::<u64>()) });
        return;
    }
    // SAFETY: the error is the CPU plugin's.
    unsafe { cpu().call_for_errors(args) };
}
