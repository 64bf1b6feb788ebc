//! Tensors by name, as a call takes and gives them.

use super::ffi::TensorSet;
use super::library::Functions;
use super::status::NrtCall;
use super::tensor::Address;
use std::ffi::{CString, c_int};
use std::ptr;

/// A set, freed when dropped. It lives within one call of the worker.
pub(super) struct Set<'f> {
    functions: &'f Functions,
    set: *mut TensorSet,
}

impl<'f> Set<'f> {
    /// The set of these tensors.
    ///
    /// # Safety
    /// The tensors are alive until the set is dropped.
    ///
    /// # Errors
    /// The call that failed with its status.
    pub(super) unsafe fn of(
        functions: &'f Functions,
        names: &[CString],
        tensors: &[Address],
    ) -> Result<Self, (NrtCall, c_int)> {
        let mut set = ptr::null_mut();
        // SAFETY: the pointer is to a pointer that lives through the call.
        let status = unsafe { (functions.nrt_allocate_tensor_set)(&raw mut set) };
        if status != 0 {
            return Err((NrtCall::AllocateSet, status));
        }
        let set = Self { functions, set };
        for (name, tensor) in names.iter().zip(tensors) {
            // SAFETY: the set is alive, the name ends with a zero, and the caller vouches for the tensor.
            let status = unsafe { (functions.nrt_add_tensor_to_tensor_set)(set.set, name.as_ptr(), tensor.pointer()) };
            if status != 0 {
                return Err((NrtCall::AddToSet, status));
            }
        }
        Ok(set)
    }

    pub(super) fn pointer(&self) -> *mut TensorSet {
        self.set
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        // SAFETY: the set is owned here.
        unsafe { (self.functions.nrt_destroy_tensor_set)(&raw mut self.set) };
    }
}
