//! The functions of the library.

use crate::execute;
use crate::orders;
use crate::state::{Memory, Phase, begin, enter, hold, state, status};
use crate::statuses::{FAILURE, INVALID, INVALID_HANDLE};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

#[path = "../../../runtime/src/nrt/ffi.rs"]
#[allow(dead_code, reason = "the declarations are those of the library that calls, which uses all of them")]
#[allow(unreachable_pub, reason = "as above")]
mod ffi;

#[cfg(test)]
mod misuse;

use ffi::{Model, NAME_BYTES, Tensor, TensorInfo, TensorInfoArray, TensorSet, Version};

/// A handle as the number that it is.
fn number<T>(handle: *const T) -> usize {
    handle.addr()
}

/// A number as a handle, which nobody can read through.
fn handle<T>(number: usize) -> *mut T {
    std::ptr::without_provenance_mut(number)
}

/// Writes a result where the caller wants it.
///
/// # Safety
/// `place` is null or one that may be written.
unsafe fn give<T>(place: *mut T, value: T) -> Result<(), c_int> {
    hold(!place.is_null())?;
    // SAFETY: the caller vouches for the place.
    unsafe { place.write(value) };
    Ok(())
}

/// Reads a text.
///
/// # Safety
/// `text` is null or ends with a zero.
unsafe fn text(text: *const c_char) -> Result<String, c_int> {
    hold(!text.is_null())?;
    // SAFETY: the caller vouches for the text.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(str::to_owned).map_err(|_| INVALID)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_version(version: *mut Version, size: usize) -> c_int {
    let give_version = || {
        begin("nrt_get_version")?;
        hold(size == size_of::<Version>())?;
        let mut detail = [0; ffi::DETAIL_BYTES];
        for (place, byte) in detail.iter_mut().zip(b"the stand-in of Halite's tests") {
            *place = byte.cast_signed();
        }
        let major = orders::number("VERSION", ffi::MAJOR_VERSION);
        let git_hash = [0; ffi::HASH_BYTES];
        // SAFETY: the caller gives a struct of the size that it says.
        unsafe { give(version, Version { major, minor: 0, patch: 0, maintenance: 0, detail, git_hash }) }
    };
    status(give_version())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_init(framework: c_int, version: *const c_char, abstraction: *const c_char) -> c_int {
    let start = || {
        begin("nrt_init")?;
        // SAFETY: the caller gives texts.
        unsafe { (text(version)?, text(abstraction)?) };
        hold(framework == ffi::NO_FRAMEWORK && state().phase != Phase::Running)?;
        if let Some(flags) = orders::variable("XLA_FLAGS") {
            // SAFETY: nothing of this process reads variables now: whoever calls waits, and XLA is not opened yet.
            unsafe { std::env::set_var("XLA_FLAGS", flags) };
        }
        state().phase = Phase::Running;
        Ok(())
    };
    status(start())
}

#[unsafe(no_mangle)]
extern "C" fn nrt_close() {
    if let Ok(mut state) = enter("nrt_close") {
        state.journal();
        state.phase = Phase::Closed;
    } else {
        state().wrong("nrt_close without nrt_init");
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_visible_vnc_count(count: *mut u32) -> c_int {
    let cores = || {
        begin("nrt_get_visible_vnc_count")?;
        // SAFETY: the caller gives a place.
        unsafe { give(count, u32::try_from(orders::number("CORES", 1)).map_err(|_| INVALID)?) }
    };
    status(cores())
}

/// Loads a program.
///
/// # Safety
/// `bytes` has `size` bytes, `model` is null or may be written.
unsafe fn load(
    function: &'static str,
    (bytes, size): (*const c_void, usize),
    (core, count): (i32, i32),
    ranks: (u32, u32),
    model: *mut *mut Model,
) -> Result<(), c_int> {
    drop(enter(function)?);
    hold(!bytes.is_null() && count == ffi::ANY_COUNT)?;
    // SAFETY: the caller vouches for the bytes.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) };
    let program = execute::load(bytes, core, ranks)?;
    let mut state = state();
    let number = state.handle();
    state.models.insert(number, Arc::new(program));
    // SAFETY: the caller vouches for the place.
    unsafe { give(model, handle(number)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_load(
    bytes: *const c_void,
    size: usize,
    core: i32,
    count: i32,
    model: *mut *mut Model,
) -> c_int {
    // SAFETY: as the caller says.
    status(unsafe { load("nrt_load", (bytes, size), (core, count), (0, 1), model) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_load_collectives(
    bytes: *const c_void,
    size: usize,
    core: i32,
    count: i32,
    rank: u32,
    ranks: u32,
    model: *mut *mut Model,
) -> c_int {
    // SAFETY: as the caller says.
    status(unsafe { load("nrt_load_collectives", (bytes, size), (core, count), (rank, ranks), model) })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_unload(model: *mut Model) -> c_int {
    let unload = || {
        let mut state = enter("nrt_unload")?;
        state.models.remove(&number(model)).map(drop).ok_or(INVALID_HANDLE)
    };
    status(unload())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_model_tensor_info(model: *mut Model, infos: *mut *mut TensorInfoArray) -> c_int {
    let tell = || {
        let mut state = enter("nrt_get_model_tensor_info")?;
        let program = state.models.get(&number(model)).cloned().ok_or(INVALID_HANDLE)?;
        let inputs = program.neff.inputs.iter().map(|tensor| (tensor, ffi::USAGE_INPUT));
        let mut told: Vec<_> =
            inputs.chain(program.neff.outputs.iter().map(|tensor| (tensor, ffi::USAGE_OUTPUT))).collect();
        told.sort_by(|one, other| one.0.name.cmp(&other.0.name));
        let infos_told: Vec<TensorInfo> =
            told.iter().map(|(tensor, usage)| info(&tensor.name, tensor.bytes, *usage)).collect();
        let array = lay_out(&infos_told).ok_or(FAILURE)?;
        state.infos.insert(number(array));
        // SAFETY: the caller gives a place.
        unsafe { give(infos, array) }
    };
    status(tell())
}

fn info(name: &str, size: usize, usage: c_int) -> TensorInfo {
    let mut bytes = [0; NAME_BYTES];
    for (place, byte) in bytes[..NAME_BYTES - 1].iter_mut().zip(name.bytes()) {
        *place = byte.cast_signed();
    }
    TensorInfo { name: bytes, usage, size, dtype: 0, shape: std::ptr::null_mut(), ndim: 0 }
}

/// The memory layout of an array of infos, with the number of these in front.
fn layout(count: usize) -> Option<std::alloc::Layout> {
    let head = std::alloc::Layout::new::<TensorInfoArray>();
    Some(head.extend(std::alloc::Layout::array::<TensorInfo>(count).ok()?).ok()?.0)
}

/// An array of infos, which [`nrt_free_model_tensor_info`] frees.
fn lay_out(infos: &[TensorInfo]) -> Option<*mut TensorInfoArray> {
    let layout = layout(infos.len())?;
    // SAFETY: the layout is not empty, as a head is in it; what is written is inside of it.
    unsafe {
        let array = std::alloc::alloc(layout).cast::<TensorInfoArray>();
        if array.is_null() {
            return None;
        }
        (&raw mut (*array).count).write(infos.len() as u64);
        let first = (&raw mut (*array).infos).cast::<TensorInfo>();
        std::ptr::copy_nonoverlapping(infos.as_ptr(), first, infos.len());
        Some(array)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_free_model_tensor_info(infos: *mut TensorInfoArray) -> c_int {
    let free = || {
        let mut state = enter("nrt_free_model_tensor_info")?;
        if !state.infos.remove(&number(infos)) {
            return Err(INVALID_HANDLE);
        }
        // SAFETY: the array is one of ours and was not freed: it stood in the list.
        unsafe {
            let layout = usize::try_from((*infos).count).ok().and_then(layout).ok_or(FAILURE)?;
            std::alloc::dealloc(infos.cast(), layout);
        }
        Ok(())
    };
    status(free())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_allocate_tensor_set(set: *mut *mut TensorSet) -> c_int {
    let allocate = || {
        let mut state = enter("nrt_allocate_tensor_set")?;
        let number = state.handle();
        state.sets.insert(number, Default::default());
        // SAFETY: the caller gives a place.
        unsafe { give(set, handle(number)) }
    };
    status(allocate())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_destroy_tensor_set(set: *mut *mut TensorSet) {
    // SAFETY: the caller gives a place with a handle.
    let number = unsafe { number(*set) };
    if state().sets.remove(&number).is_none() {
        state().wrong("nrt_destroy_tensor_set of what is no set");
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_add_tensor_to_tensor_set(
    set: *mut TensorSet,
    name: *const c_char,
    tensor: *mut Tensor,
) -> c_int {
    let add = || {
        let mut state = enter("nrt_add_tensor_to_tensor_set")?;
        // SAFETY: the caller gives a text.
        let name = unsafe { text(name)? };
        hold(!name.is_empty() && name.len() < NAME_BYTES)?;
        state.tensors.get(&number(tensor)).ok_or(INVALID_HANDLE)?;
        state.sets.get_mut(&number(set)).ok_or(INVALID_HANDLE)?.insert(name, number(tensor));
        Ok(())
    };
    status(add())
}

#[unsafe(no_mangle)]
extern "C" fn nrt_execute(model: *mut Model, inputs: *const TensorSet, outputs: *mut TensorSet) -> c_int {
    let execute = || {
        let mut state = enter("nrt_execute")?;
        let program = state.models.get(&number(model)).cloned().ok_or(INVALID_HANDLE)?;
        let inputs = state.sets.get(&number(inputs)).cloned().ok_or(INVALID_HANDLE)?;
        let outputs = state.sets.get(&number(outputs)).cloned().ok_or(INVALID_HANDLE)?;
        let nan = orders::not_a_number(state.calls("nrt_execute"));
        execute::run(&program, &mut state.tensors, &inputs, &outputs, nan.is_some())?;
        nan.filter(|status| *status != 0).map_or(Ok(()), Err)
    };
    status(execute())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_allocate(
    placement: c_int,
    core: c_int,
    size: usize,
    name: *const c_char,
    tensor: *mut *mut Tensor,
) -> c_int {
    let allocate = || {
        let mut state = enter("nrt_tensor_allocate")?;
        if !name.is_null() {
            // SAFETY: the caller gives a text.
            unsafe { text(name)? };
        }
        let is_there = u64::try_from(core).is_ok_and(|core| core < orders::number("CORES", 1));
        hold(placement == ffi::ON_DEVICE && is_there)?;
        let number = state.handle();
        state.tensors.insert(number, Memory { bytes: vec![0xa5; size], is_written: false });
        // SAFETY: the caller gives a place.
        unsafe { give(tensor, handle(number)) }
    };
    status(allocate())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_free(tensor: *mut *mut Tensor) {
    // SAFETY: the caller gives a place with a handle.
    let number = unsafe { number(*tensor) };
    let mut state = state();
    if state.sets.values().any(|set| set.values().any(|held| *held == number)) {
        state.wrong("nrt_tensor_free of a tensor in a set");
    }
    if state.tensors.remove(&number).is_none() {
        state.wrong("nrt_tensor_free of what is no tensor");
    }
    // SAFETY: as above; the guide says that the place holds null afterwards.
    unsafe { tensor.write(std::ptr::null_mut()) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_read(tensor: *const Tensor, bytes: *mut c_void, offset: usize, size: usize) -> c_int {
    let read = || {
        let state = enter("nrt_tensor_read")?;
        let memory = state.tensors.get(&number(tensor)).ok_or(INVALID_HANDLE)?;
        hold(memory.is_written)?;
        let end = offset.checked_add(size).ok_or(INVALID)?;
        let part = memory.bytes.get(offset..end).ok_or(INVALID)?;
        // SAFETY: the caller gives memory of this size.
        unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), bytes.cast(), size) };
        Ok(())
    };
    status(read())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_tensor_write(tensor: *mut Tensor, bytes: *const c_void, offset: usize, size: usize) -> c_int {
    let write = || {
        let mut state = enter("nrt_tensor_write")?;
        let memory = state.tensors.get_mut(&number(tensor)).ok_or(INVALID_HANDLE)?;
        let end = offset.checked_add(size).ok_or(INVALID)?;
        let part = memory.bytes.get_mut(offset..end).ok_or(INVALID)?;
        // SAFETY: the caller gives memory of this size.
        unsafe { std::ptr::copy_nonoverlapping(bytes.cast(), part.as_mut_ptr(), size) };
        memory.is_written |= size == memory.bytes.len();
        Ok(())
    };
    status(write())
}
