//! A loaded NEFF and its runs.

use super::error::NrtError;
use super::ffi::{self, Model, TensorInfo, TensorInfoArray};
use super::library::Functions;
use super::options::NrtOptions;
use super::session::Session;
use super::status::{NrtCall, NrtStatus};
use super::tensor::{Address, NrtTensor};
use super::tensor_set::Set;
use crate::{Buffer, Executable, Input, MemoryStats, Neff, Result, RuntimeError, Signature, TensorSpec, check_inputs};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_int};
use std::ptr;
use std::sync::Arc;

/// The core of this process on which everything is: its first.
pub(super) const CORE: c_int = 0;

/// The address of a model on its way to the worker.
#[derive(Clone, Copy)]
struct Handle(*mut Model);

// SAFETY: the address is used by the worker's thread alone.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    fn pointer(self) -> *mut Model {
        self.0
    }
}

/// A loaded NEFF, unloaded when dropped.
pub(super) struct NrtModel {
    session: Arc<Session>,
    handle: Handle,
    signature: Signature,
    inputs: Arc<[CString]>,
    outputs: Arc<[CString]>,
    aliases: Vec<Option<usize>>,
    options: NrtOptions,
}

/// A tensor that a NEFF has.
#[derive(Clone)]
struct Stated {
    is_input: bool,
    name: String,
    bytes: usize,
}

impl NrtModel {
    /// Loads a NEFF, with collectives where there are several ranks.
    ///
    /// # Errors
    /// When it cannot be loaded, or has other tensors than the program that it is said to be of.
    pub(super) fn load(
        session: &Arc<Session>,
        neff: &Neff<'_>,
        signature: &Signature,
        options: &NrtOptions,
    ) -> Result<Self> {
        let handle = load(session, neff.bytes, options)?;
        let names = |names: &[String]| names.iter().map(|name| c_text(name)).collect::<Result<Arc<[CString]>>>();
        let model = Self {
            session: Arc::clone(session),
            handle,
            signature: signature.clone(),
            inputs: names(&neff.inputs)?,
            outputs: names(&neff.outputs)?,
            aliases: neff.aliases.clone(),
            options: options.clone(),
        };
        compare(&model.stated()?, &expected(neff, signature))?;
        Ok(model)
    }

    /// The tensors that the NEFF says it has.
    fn stated(&self) -> Result<Vec<Stated>> {
        let handle = self.handle;
        let told = self.session.worker.call(NrtCall::TensorInfo, self.options.call_timeout, move |functions| {
            let mut infos: *mut TensorInfoArray = ptr::null_mut();
            // SAFETY: the model is loaded, and the pointer is to a pointer that lives through the call.
            let status = unsafe { (functions.nrt_get_model_tensor_info)(handle.pointer(), &raw mut infos) };
            if status != 0 || infos.is_null() {
                return (status, Vec::new());
            }
            // SAFETY: the call succeeded, so that the array is whole until it is freed, which is done once.
            unsafe {
                let stated = copy(infos);
                (functions.nrt_free_model_tensor_info)(infos);
                (status, stated)
            }
        });
        let (status, stated) = told?;
        NrtError::check(NrtCall::TensorInfo, status)?;
        Ok(stated)
    }

    /// The tensors of the inputs.
    fn tensors<'b>(&self, inputs: &'b [Input<'_>]) -> Result<Vec<&'b NrtTensor>> {
        let tensor = |input: &'b Input<'_>| {
            NrtTensor::of(input.buffer(), &self.session)
                .ok_or_else(|| RuntimeError::InvalidInput("an input belongs to another executor".into()))
        };
        inputs.iter().map(tensor).collect()
    }

    /// For each output, the donated input whose memory it takes.
    fn shared(&self, inputs: &[Input<'_>]) -> Vec<Option<usize>> {
        let given = |position: &usize| inputs.get(*position).is_some_and(Input::is_donated);
        self.aliases.iter().map(|alias| alias.filter(given)).collect()
    }

    /// New memory for the outputs that share none.
    fn allocate(&self, shared: &[Option<usize>]) -> Result<Vec<Option<NrtTensor>>> {
        let one = |(spec, shared): (&TensorSpec, &Option<usize>)| match shared {
            Some(_) => Ok(None),
            None => NrtTensor::allocate(&self.session, spec, CORE, self.options.call_timeout).map(Some),
        };
        self.signature.outputs.iter().zip(shared).map(one).collect()
    }

    fn run(&self, inputs: Vec<Address>, outputs: Vec<Address>) -> Result<()> {
        let (handle, input_names, output_names) = (self.handle, Arc::clone(&self.inputs), Arc::clone(&self.outputs));
        let ran = self.session.worker.call(NrtCall::Execute, self.options.call_timeout, move |functions| {
            // SAFETY: model and tensors are alive, since their freeing is done by later calls.
            unsafe { execute(functions, handle, (&input_names, &inputs), (&output_names, &outputs)) }
        });
        let checked = match ran? {
            Err((call, status)) => NrtError::check(call, status),
            // The header says that the program was completed, the troubleshooting guide that the request fails. The outputs are taken,
            // and what looks at them decides; no source says whether they are whole.
            Ok(status) if NrtStatus::new(status).is_some_and(NrtStatus::is_about_numbers) => Ok(()),
            Ok(status) => NrtError::check(NrtCall::Execute, status),
        };
        Ok(checked?)
    }
}

impl Drop for NrtModel {
    fn drop(&mut self) {
        let handle = self.handle;
        self.session.worker.post(move |functions| {
            // SAFETY: the model is owned here, and calls that use it were made before. A failure leaves nothing to do.
            let _ = unsafe { (functions.nrt_unload)(handle.pointer()) };
        });
    }
}

impl Executable for NrtModel {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn devices(&self) -> &[usize] {
        &[0]
    }

    fn memory_stats(&self) -> Result<MemoryStats> {
        Err(RuntimeError::Unsupported("libnrt does not say what a program needs: the manifest has an estimate".into()))
    }

    fn execute_replicas(&self, mut inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
        check_inputs(self, &inputs)?;
        let inputs = inputs.pop().unwrap_or_default();
        let (tensors, shared) = (self.tensors(&inputs)?, self.shared(&inputs));
        let made = self.allocate(&shared)?;
        let read: Vec<Address> = tensors.iter().map(|tensor| tensor.address()).collect();
        let place = |(made, shared): (&Option<NrtTensor>, &Option<usize>)| match (made, shared) {
            (Some(tensor), _) => Some(tensor.address()),
            (None, shared) => shared.and_then(|position| read.get(position).copied()),
        };
        let written: Vec<Address> = made.iter().zip(&shared).filter_map(place).collect();
        self.run(read, written)?;
        let mut given: Vec<Option<Buffer>> = inputs.into_iter().map(Input::into_donated).collect();
        let output = |(made, shared): (Option<NrtTensor>, Option<usize>)| match (made, shared) {
            (Some(tensor), _) => Some(Box::new(tensor) as Buffer),
            (None, shared) => shared.and_then(|position| given.get_mut(position)?.take()),
        };
        Ok(vec![made.into_iter().zip(shared).filter_map(output).collect()])
    }
}

fn c_text(name: &str) -> Result<CString> {
    match CString::new(name) {
        Ok(text) if name.len() < ffi::NAME_BYTES => Ok(text),
        _ => {
            Err(RuntimeError::InvalidProgram(format!("a tensor of a NEFF cannot be called `{}`", name.escape_debug())))
        }
    }
}

fn load(session: &Session, bytes: &[u8], options: &NrtOptions) -> Result<Handle> {
    let (bytes, (rank, world)) = (bytes.to_vec(), options.in_stage());
    let call = if world > 1 { NrtCall::LoadCollectives } else { NrtCall::Load };
    let loaded = session.worker.call(call, options.load_timeout, move |functions| {
        let (data, size, mut model) = (bytes.as_ptr().cast(), bytes.len(), ptr::null_mut());
        // SAFETY: the bytes live through the call, after which the library has what it needs of them (the guide does not say that they
        // must stay), and the pointer is to a pointer that does so too.
        let status = unsafe {
            match call {
                NrtCall::Load => (functions.nrt_load)(data, size, CORE, ffi::ANY_COUNT, &raw mut model),
                _ => (functions.nrt_load_collectives)(data, size, CORE, ffi::ANY_COUNT, rank, world, &raw mut model),
            }
        };
        (status, Handle(model))
    });
    let (status, handle) = loaded?;
    NrtError::check(call, status)?;
    Ok(handle)
}

/// Runs a model.
///
/// # Safety
/// Model and tensors are alive.
///
/// # Errors
/// When a set could not be made: the call with its status.
unsafe fn execute(
    functions: &Functions,
    model: Handle,
    inputs: (&[CString], &[Address]),
    outputs: (&[CString], &[Address]),
) -> std::result::Result<c_int, (NrtCall, c_int)> {
    // SAFETY: the caller vouches for the tensors, and the sets are dropped at the end of this function.
    let (inputs, outputs) =
        unsafe { (Set::of(functions, inputs.0, inputs.1)?, Set::of(functions, outputs.0, outputs.1)?) };
    // SAFETY: the caller vouches for the model; the sets are alive.
    Ok(unsafe { (functions.nrt_execute)(model.pointer(), inputs.pointer(), outputs.pointer()) })
}

/// Copies what an array says.
///
/// # Safety
/// The array has as many infos behind its head as this says.
unsafe fn copy(infos: *const TensorInfoArray) -> Vec<Stated> {
    // SAFETY: the caller vouches for the array; the place of the infos is that of the field, and nothing is read past the count.
    let infos = unsafe {
        let first = (&raw const (*infos).infos).cast::<TensorInfo>();
        std::slice::from_raw_parts(first, usize::try_from((*infos).count).unwrap_or(0))
    };
    let stated = |info: &TensorInfo| {
        let bytes: Vec<u8> = info.name.iter().map(|byte| byte.cast_unsigned()).collect();
        let name = CStr::from_bytes_until_nul(&bytes).map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned());
        Stated { is_input: info.usage == ffi::USAGE_INPUT, name, bytes: info.size }
    };
    infos.iter().filter(|info| [ffi::USAGE_INPUT, ffi::USAGE_OUTPUT].contains(&info.usage)).map(stated).collect()
}

/// The tensors that a NEFF of a program has.
fn expected(neff: &Neff<'_>, signature: &Signature) -> Vec<Stated> {
    let named = |is_input, names: &[String], specs: &[TensorSpec]| {
        let stated = |(name, spec): (&String, &TensorSpec)| Stated { is_input, name: name.clone(), bytes: spec.size() };
        names.iter().zip(specs).map(stated).collect::<Vec<_>>()
    };
    [named(true, &neff.inputs, &signature.inputs), named(false, &neff.outputs, &signature.outputs)].concat()
}

/// Compares the tensors that a NEFF has with those that it should have, whatever their order.
fn compare(found: &[Stated], expected: &[Stated]) -> Result<()> {
    let mut left: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
    for stated in found {
        left.entry((stated.is_input, &stated.name)).or_default().push(stated.bytes);
    }
    let word = |is_input| if is_input { "input" } else { "output" };
    for Stated { is_input, name, bytes } in expected {
        let word = word(*is_input);
        let reason = match left.remove(&(*is_input, name.as_str())).as_deref() {
            Some([found]) if found == bytes => continue,
            Some([found]) => format!("its {word} `{name}` has {found} bytes, that of the program {bytes}"),
            Some(several) => format!("it has {} {word}s called `{name}`", several.len()),
            None => format!("it has no {word} `{name}`"),
        };
        return Err(NrtError::Neff(reason).into());
    }
    match left.first_key_value() {
        Some(((is_input, name), _)) => {
            Err(NrtError::Neff(format!("it has the {} `{name}`, the program has none", word(*is_input))).into())
        }
        None => Ok(()),
    }
}
