//! Misuses that the stand-in refuses: each is tried against its functions, so that a run that it takes means something.

use super::*;
use crate::statuses::{
    CLOSED, EXEC_BAD_INPUT, HW_ERROR, LOAD_NOT_ENOUGH_NC, SUCCESS, UNINITIALIZED, UNSUPPORTED_NEFF_VERSION,
};
use crate::{Named, StandInNeff};
use std::ffi::CString;
use std::ptr::null_mut;

/// The bytes of each tensor.
const BYTES: usize = 16;

fn hlo() -> halite_support::Result<Vec<u8>> {
    let ty = halite_hlo::ArrayType::new(halite_tensor::DType::F32, [4]);
    let mut module = halite_hlo::ModuleBuilder::new("test");
    let mut entry = module.computation("main");
    let (x, y) = (entry.parameter("x", ty.clone())?, entry.parameter("y", ty)?);
    let results = [entry.add(x, y)?, entry.subtract(x, y)?];
    let root = entry.root_tuple(&results)?;
    entry.finish(root)?;
    module.alias(0, 0);
    Ok(halite_hlo::encode(&module.finish()?))
}

/// `x + y`, which takes the memory of x, and `x - y`.
fn neff() -> StandInNeff {
    let hlo = hlo().expect("the program is sound");
    let named = |name: &str, alias| Named { name: name.to_owned(), bytes: BYTES, alias };
    let inputs = vec![named("x", None), named("y", None)];
    let outputs = vec![named("sum", Some(0)), named("difference", None)];
    StandInNeff { target: "trn1".into(), cores: 1, ranks: 1, inputs, outputs, hlo }
}

fn init(framework: c_int) -> c_int {
    // SAFETY: the texts end with a zero.
    unsafe { nrt_init(framework, c"".as_ptr(), c"".as_ptr()) }
}

fn load_on(bytes: &[u8], core: i32, count: i32) -> Result<*mut Model, c_int> {
    let mut model = null_mut();
    // SAFETY: bytes and place live through the call.
    match unsafe { nrt_load(bytes.as_ptr().cast(), bytes.len(), core, count, &raw mut model) } {
        SUCCESS => Ok(model),
        status => Err(status),
    }
}

fn loaded() -> *mut Model {
    load_on(&neff().to_bytes(), 0, ffi::ANY_COUNT).expect("it is one of ours")
}

/// The status of loading a changed program.
fn load_changed(change: impl FnOnce(&mut StandInNeff)) -> c_int {
    let mut neff = neff();
    change(&mut neff);
    load_on(&neff.to_bytes(), 0, ffi::ANY_COUNT).err().unwrap_or(SUCCESS)
}

fn allocate_at(placement: c_int, core: c_int, size: usize) -> Result<*mut Tensor, c_int> {
    let mut tensor = null_mut();
    // SAFETY: the place lives through the call.
    match unsafe { nrt_tensor_allocate(placement, core, size, c"".as_ptr(), &raw mut tensor) } {
        SUCCESS => Ok(tensor),
        status => Err(status),
    }
}

/// A tensor of this size that nothing was written to.
fn raw(size: usize) -> *mut Tensor {
    allocate_at(ffi::ON_DEVICE, 0, size).expect("there is memory")
}

/// A tensor of a program.
fn written() -> *mut Tensor {
    let tensor = raw(BYTES);
    assert_eq!(write(tensor, 0, BYTES), SUCCESS);
    tensor
}

fn write(tensor: *mut Tensor, offset: usize, size: usize) -> c_int {
    let bytes = vec![0u8; size.min(4 * BYTES)];
    // SAFETY: where the bytes are fewer than the size, the call is refused before it reads.
    unsafe { nrt_tensor_write(tensor, bytes.as_ptr().cast(), offset, size) }
}

fn read(tensor: *mut Tensor, offset: usize, size: usize) -> c_int {
    let mut bytes = vec![0u8; size.min(4 * BYTES)];
    // SAFETY: where the bytes are fewer than the size, the call is refused before it writes.
    unsafe { nrt_tensor_read(tensor, bytes.as_mut_ptr().cast(), offset, size) }
}

fn freed() -> *mut Tensor {
    let tensor = written();
    free(tensor);
    tensor
}

fn free(mut tensor: *mut Tensor) {
    // SAFETY: the place lives through the call.
    unsafe { nrt_tensor_free(&raw mut tensor) };
}

fn new_set() -> *mut TensorSet {
    let mut set = null_mut();
    // SAFETY: the place lives through the call.
    assert_eq!(unsafe { nrt_allocate_tensor_set(&raw mut set) }, SUCCESS);
    set
}

fn add(set: *mut TensorSet, name: &[u8], tensor: *mut Tensor) -> c_int {
    let name = CString::new(name).expect("no zero is in it");
    // SAFETY: the name ends with a zero.
    unsafe { nrt_add_tensor_to_tensor_set(set, name.as_ptr(), tensor) }
}

fn destroy(mut set: *mut TensorSet) {
    // SAFETY: the place lives through the call.
    unsafe { nrt_destroy_tensor_set(&raw mut set) };
}

fn set_of(tensors: &[(&str, *mut Tensor)]) -> *mut TensorSet {
    let set = new_set();
    for (name, tensor) in tensors {
        assert_eq!(add(set, name.as_bytes(), *tensor), SUCCESS, "{name}");
    }
    set
}

/// The status of a run on these sets.
fn run_on(inputs: &[(&str, *mut Tensor)], outputs: &[(&str, *mut Tensor)]) -> c_int {
    nrt_execute(loaded(), set_of(inputs), set_of(outputs))
}

/// The status of a run on other outputs than it should have.
fn run_to(outputs: &[(&str, *mut Tensor)]) -> c_int {
    run_on(&[("x", written()), ("y", written())], outputs)
}

/// The status of a run on other inputs than it should have.
fn run_from(inputs: &[(&str, *mut Tensor)]) -> c_int {
    run_on(inputs, &[("sum", raw(BYTES)), ("difference", raw(BYTES))])
}

/// The note on a misuse that no status can tell.
fn noted(misuse: impl FnOnce()) -> Option<String> {
    state().wrongs.clear();
    misuse();
    state().wrongs.pop()
}

/// A misuse by its name, and what it is answered.
type Case = (&'static str, c_int, fn() -> c_int);

const WRONG_ORDER: [Case; 4] = [
    ("memory before nrt_init", UNINITIALIZED, || allocate_at(ffi::ON_DEVICE, 0, BYTES).err().unwrap_or(SUCCESS)),
    ("a program before nrt_init", UNINITIALIZED, || load_changed(|_| {})),
    ("a set before nrt_init", UNINITIALIZED, || {
        let mut set = null_mut();
        // SAFETY: the place lives through the call.
        unsafe { nrt_allocate_tensor_set(&raw mut set) }
    }),
    ("nrt_init for a framework", INVALID, || init(ffi::NO_FRAMEWORK + 1)),
];

const RUNNING: [Case; 41] = [
    ("nrt_init twice", INVALID, || init(ffi::NO_FRAMEWORK)),
    ("a version of another size", INVALID, || {
        // SAFETY: it is refused before it writes.
        unsafe { nrt_get_version(null_mut(), size_of::<Version>() - 8) }
    }),
    ("a file that is no program", INVALID, || load_on(&[3; 4000], 0, ffi::ANY_COUNT).err().unwrap_or(SUCCESS)),
    ("a program of another version", UNSUPPORTED_NEFF_VERSION, || {
        let mut bytes = neff().to_bytes();
        bytes[21] = b'7';
        load_on(&bytes, 0, ffi::ANY_COUNT).err().unwrap_or(SUCCESS)
    }),
    ("a program for other hardware", HW_ERROR, || load_changed(|neff| neff.target = "trn2".into())),
    ("a program of more cores", LOAD_NOT_ENOUGH_NC, || load_changed(|neff| neff.cores = 2)),
    ("a program of several ranks without collectives", INVALID, || load_changed(|neff| neff.ranks = 2)),
    ("a program on a core that is not there", LOAD_NOT_ENOUGH_NC, || {
        load_on(&neff().to_bytes(), 1, ffi::ANY_COUNT).err().unwrap_or(SUCCESS)
    }),
    ("a program on a negative core", LOAD_NOT_ENOUGH_NC, || {
        load_on(&neff().to_bytes(), -1, ffi::ANY_COUNT).err().unwrap_or(SUCCESS)
    }),
    ("a program on a number of cores", INVALID, || load_on(&neff().to_bytes(), 0, 1).err().unwrap_or(SUCCESS)),
    ("a rank beyond all ranks", INVALID, || {
        let (bytes, mut model) = (StandInNeff { ranks: 2, ..neff() }.to_bytes(), null_mut());
        let (data, size) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: bytes and place live through the call.
        unsafe { nrt_load_collectives(data, size, 0, ffi::ANY_COUNT, 2, 2, &raw mut model) }
    }),
    ("nrt_unload twice", INVALID_HANDLE, || {
        let model = loaded();
        assert_eq!(nrt_unload(model), SUCCESS);
        nrt_unload(model)
    }),
    ("a run of what is unloaded", INVALID_HANDLE, || {
        let model = loaded();
        assert_eq!(nrt_unload(model), SUCCESS);
        nrt_execute(model, new_set(), new_set())
    }),
    ("infos of what is unloaded", INVALID_HANDLE, || {
        let (model, mut infos) = (loaded(), null_mut());
        assert_eq!(nrt_unload(model), SUCCESS);
        // SAFETY: the place lives through the call.
        unsafe { nrt_get_model_tensor_info(model, &raw mut infos) }
    }),
    ("infos freed twice", INVALID_HANDLE, || {
        let mut infos = null_mut();
        // SAFETY: the place lives through the calls; what is freed already is known by its address alone.
        unsafe {
            assert_eq!(nrt_get_model_tensor_info(loaded(), &raw mut infos), SUCCESS);
            assert_eq!(nrt_free_model_tensor_info(infos), SUCCESS);
            nrt_free_model_tensor_info(infos)
        }
    }),
    ("memory on a core that is not there", INVALID, || allocate_at(ffi::ON_DEVICE, 1, BYTES).err().unwrap_or(SUCCESS)),
    ("memory on a negative core", INVALID, || allocate_at(ffi::ON_DEVICE, -1, BYTES).err().unwrap_or(SUCCESS)),
    ("memory elsewhere than on the device", INVALID, || allocate_at(1, 0, BYTES).err().unwrap_or(SUCCESS)),
    ("a copy past the end", INVALID, || write(raw(BYTES), 0, BYTES + 1)),
    ("a copy from an offset past the end", INVALID, || write(raw(BYTES), BYTES, 1)),
    ("a copy to the host past the end", INVALID, || read(written(), 1, BYTES)),
    ("an offset beyond all numbers", INVALID, || read(written(), usize::MAX, 2)),
    ("memory read before it is written", INVALID, || read(raw(BYTES), 0, BYTES)),
    ("memory read after it is freed", INVALID_HANDLE, || read(freed(), 0, BYTES)),
    ("memory written after it is freed", INVALID_HANDLE, || write(freed(), 0, BYTES)),
    ("a freed tensor put into a set", INVALID_HANDLE, || add(new_set(), b"x", freed())),
    ("a tensor put into a set that is gone", INVALID_HANDLE, || {
        let set = new_set();
        destroy(set);
        add(set, b"x", written())
    }),
    ("a name of nothing", INVALID, || add(new_set(), b"", written())),
    ("a name that is too long", INVALID, || add(new_set(), &[b'x'; NAME_BYTES], written())),
    ("a name that is no text", INVALID, || add(new_set(), &[0xff], written())),
    ("a run on a set that is gone", INVALID_HANDLE, || {
        let set = new_set();
        destroy(set);
        nrt_execute(loaded(), set, new_set())
    }),
    ("a run without an input", INVALID, || run_from(&[("x", written())])),
    ("a run with an input of another name", INVALID, || run_from(&[("x", written()), ("z", written())])),
    ("a run with one input too many", INVALID, || run_from(&[("x", written()), ("y", written()), ("z", written())])),
    ("a run with an input of another size", INVALID, || run_from(&[("x", written()), ("y", raw(BYTES + 4))])),
    ("a run with an input that is not written", EXEC_BAD_INPUT, || run_from(&[("x", written()), ("y", raw(BYTES))])),
    ("a run with an output of another size", INVALID, || run_to(&[("sum", raw(4)), ("difference", raw(BYTES))])),
    ("a run without an output", INVALID, || run_to(&[("sum", raw(BYTES))])),
    ("one tensor as two outputs", INVALID, || {
        let both = raw(BYTES);
        run_to(&[("sum", both), ("difference", both)])
    }),
    ("a tensor given away that the program does not take over", INVALID, || {
        let y = written();
        run_on(&[("x", written()), ("y", y)], &[("sum", raw(BYTES)), ("difference", y)])
    }),
    ("a tensor given away twice", INVALID, || {
        let x = written();
        run_on(&[("x", x), ("y", x)], &[("sum", x), ("difference", raw(BYTES))])
    }),
];

/// Misuses that no status can tell, with what is noted of them.
const NOTED: [(&str, fn()); 4] = [
    ("nrt_tensor_free of what is no tensor", || free(freed())),
    ("nrt_tensor_free of a tensor in a set", || {
        let tensor = written();
        set_of(&[("x", tensor)]);
        free(tensor);
    }),
    ("nrt_destroy_tensor_set of what is no set", || {
        let set = new_set();
        destroy(set);
        destroy(set);
    }),
    ("nrt_destroy_tensor_set of what is no set", || destroy(written().cast())),
];

/// One test, since a process has one runtime, in one state after another.
#[test]
fn each_misuse_is_refused() {
    let all = |cases: &[Case]| {
        for (name, expected, misuse) in cases {
            assert_eq!(misuse(), *expected, "{name}");
        }
    };
    assert_eq!(noted(nrt_close_early), Some("nrt_close without nrt_init".to_owned()));
    all(&WRONG_ORDER);
    assert_eq!(init(ffi::NO_FRAMEWORK), SUCCESS);
    // What is right is taken, also where memory is given away once.
    let (x, y) = (written(), written());
    assert_eq!(run_on(&[("x", x), ("y", y)], &[("sum", x), ("difference", raw(BYTES))]), SUCCESS);
    assert_eq!(run_on(&[("x", x), ("y", y)], &[("sum", raw(BYTES)), ("difference", raw(BYTES))]), SUCCESS);
    all(&RUNNING);
    for (expected, misuse) in NOTED {
        assert_eq!(noted(misuse).as_deref(), Some(expected));
    }
    // A set of which a tensor was freed holds none that runs.
    let y = written();
    let inputs = set_of(&[("x", written()), ("y", y)]);
    free(y);
    let outputs = set_of(&[("sum", raw(BYTES)), ("difference", raw(BYTES))]);
    assert_eq!(nrt_execute(loaded(), inputs, outputs), INVALID);
    nrt_close();
    assert_eq!(allocate_at(ffi::ON_DEVICE, 0, BYTES), Err(CLOSED));
    assert_eq!(load_on(&neff().to_bytes(), 0, ffi::ANY_COUNT), Err(CLOSED));
}

fn nrt_close_early() {
    nrt_close();
}
