//! The part of the PJRT C API, version 0.81, that is used here.
//!
//! A plugin hands out one table: a header, then function pointers in a fixed order. Each function takes a pointer to its
//! own argument struct, whose first field is the struct's size. A struct implements [`Arguments`], which ties it to the
//! position of its function in the table, so that no function can be called with another's arguments.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// The version these declarations follow: major, minor.
pub(super) const VERSION: (c_int, c_int) = (0, 81);

/// Number of function pointers that the table must hold: one more than the last that is called.
pub(super) const NUM_FUNCTIONS: usize = ExecutableMemoryStats::POSITION + 1;

macro_rules! opaque {
    ($($name:ident),*) => {
        $(#[repr(C)]
        pub(super) struct $name {
            _private: [u8; 0],
        })*
    };
}

opaque!(Error, Event, Client, Device, DeviceDescription, Memory, Executable, LoadedExecutable, Buffer);

/// The start of every struct.
#[repr(C)]
pub(super) struct Head {
    pub(super) struct_size: usize,
    pub(super) extension_start: *mut c_void,
}

impl Head {
    pub(super) fn of<T>() -> Self {
        Self { struct_size: size_of::<T>(), extension_start: ptr::null_mut() }
    }
}

/// `PJRT_Api` up to its function pointers, of which there are `(head.struct_size - size_of::<Api>()) / 8`.
#[repr(C)]
pub(super) struct Api {
    pub(super) head: Head,
    pub(super) version_head: Head,
    pub(super) major: c_int,
    pub(super) minor: c_int,
}

impl Api {
    /// Whether the layout is the one declared here and the table holds every function that is called. Minor versions
    /// append functions and fields only, and the receiver of a struct sees from its size which fields it has.
    pub(super) fn is_usable(&self) -> bool {
        let size = size_of::<Self>() + NUM_FUNCTIONS * size_of::<Function>();
        self.major == VERSION.0 && self.head.struct_size >= size
    }
}

/// A function of the table. The ones of [`ErrorDestroy`] and [`ErrorMessage`] return nothing instead.
pub(super) type Function = unsafe extern "C" fn(*mut c_void) -> *mut Error;

/// An argument struct.
///
/// # Safety
/// The type is `repr(C)`, starts with [`Head`], has the fields of the C struct of the function at `POSITION`, and is
/// valid when all its bytes are zero.
pub(super) unsafe trait Arguments: Sized {
    /// Position of the function in the table.
    const POSITION: usize;

    /// The struct with its size set and everything else zero or null.
    fn new() -> Self;
}

macro_rules! calls {
    ($($(#[$meta:meta])* $name:ident at $position:literal { $($field:ident: $ty:ty,)* })*) => {
        $($(#[$meta])*
        #[repr(C)]
        pub(super) struct $name {
            pub(super) head: Head,
            $(pub(super) $field: $ty,)*
        }

        // SAFETY: the macro makes the layout, the list below follows the C header, and all fields are numbers, flags,
        // nullable pointers or structs of such.
        unsafe impl Arguments for $name {
            const POSITION: usize = $position;

            fn new() -> Self {
                // SAFETY: zero is valid for every field, see above.
                let mut args: Self = unsafe { std::mem::zeroed() };
                args.head = Head::of::<Self>();
                args
            }
        })*
    };
}

calls! {
    ErrorDestroy at 0 { error: *mut Error, }
    ErrorMessage at 1 { error: *const Error, message: *const c_char, message_size: usize, }
    ErrorGetCode at 2 { error: *const Error, code: c_int, }
    PluginInitialize at 3 {}
    EventDestroy at 5 { event: *mut Event, }
    EventAwait at 8 { event: *mut Event, }
    ClientCreate at 10 {
        create_options: *const NamedValue,
        num_options: usize,
        kv_get_callback: *mut c_void,
        kv_get_user_arg: *mut c_void,
        kv_put_callback: *mut c_void,
        kv_put_user_arg: *mut c_void,
        client: *mut Client,
        kv_try_get_callback: *mut c_void,
        kv_try_get_user_arg: *mut c_void,
    }
    ClientDestroy at 11 { client: *mut Client, }
    ClientPlatformName at 12 { client: *mut Client, text: *const c_char, text_size: usize, }
    ClientAddressableDevices at 16 { client: *mut Client, devices: *const *mut Device, num_devices: usize, }
    ClientCompile at 20 {
        client: *mut Client,
        program: *const Program,
        compile_options: *const c_char,
        compile_options_size: usize,
        executable: *mut LoadedExecutable,
    }
    ClientBufferFromHostBuffer at 22 {
        client: *mut Client,
        data: *const c_void,
        buffer_type: c_int,
        dims: *const i64,
        num_dims: usize,
        byte_strides: *const i64,
        num_byte_strides: usize,
        host_buffer_semantics: c_int,
        device: *mut Device,
        memory: *mut Memory,
        device_layout: *mut c_void,
        done_with_host_buffer: *mut Event,
        buffer: *mut Buffer,
    }
    DeviceDescriptionId at 23 { description: *mut DeviceDescription, id: c_int, }
    DeviceGetDescription at 29 { device: *mut Device, description: *mut DeviceDescription, }
    ExecutableDestroy at 40 { executable: *mut Executable, }
    ExecutableNumOutputs at 44 { executable: *mut Executable, num_outputs: usize, }
    LoadedExecutableDestroy at 50 { executable: *mut LoadedExecutable, }
    LoadedExecutableGetExecutable at 51 { loaded_executable: *mut LoadedExecutable, executable: *mut Executable, }
    LoadedExecutableAddressableDevices at 52 {
        executable: *mut LoadedExecutable,
        devices: *const *mut Device,
        num_devices: usize,
    }
    LoadedExecutableExecute at 55 {
        executable: *mut LoadedExecutable,
        options: *mut ExecuteOptions,
        argument_lists: *const *const *mut Buffer,
        num_devices: usize,
        num_args: usize,
        output_lists: *const *mut *mut Buffer,
        device_complete_events: *mut *mut Event,
        execute_device: *mut Device,
    }
    BufferDestroy at 58 { buffer: *mut Buffer, }
    BufferCopyToDevice at 69 { buffer: *mut Buffer, device: *mut Device, copy: *mut Buffer, }
    BufferToHostBuffer at 70 {
        src: *mut Buffer,
        host_layout: *mut MemoryLayout,
        dst: *mut c_void,
        dst_size: usize,
        event: *mut Event,
    }
    BufferReadyEvent at 72 { buffer: *mut Buffer, event: *mut Event, }
    ExecutableMemoryStats at 96 {
        executable: *mut Executable,
        generated_code: i64,
        argument: i64,
        output: i64,
        alias: i64,
        temp: i64,
        host_generated_code: i64,
        host_argument: i64,
        host_output: i64,
        host_alias: i64,
        host_temp: i64,
        peak: i64,
    }
}

/// `PJRT_NamedValue`.
#[repr(C)]
pub(super) struct NamedValue {
    pub(super) head: Head,
    pub(super) name: *const c_char,
    pub(super) name_size: usize,
    pub(super) value_type: c_int,
    pub(super) value: Value,
    /// Bytes of a string, elements of a list, 1 for everything else.
    pub(super) value_size: usize,
}

/// The value of a [`NamedValue`]; its type says which field it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union Value {
    pub(super) string: *const c_char,
    pub(super) int64: i64,
    pub(super) int64_list: *const i64,
    pub(super) float: f32,
    pub(super) boolean: bool,
}

/// `PJRT_NamedValue_Type`, the types of a [`NamedValue`].
pub(super) const NAMED_STRING: c_int = 0;
pub(super) const NAMED_INT64: c_int = 1;
pub(super) const NAMED_INT64_LIST: c_int = 2;
pub(super) const NAMED_FLOAT: c_int = 3;
pub(super) const NAMED_BOOL: c_int = 4;

/// `PJRT_Program`.
#[repr(C)]
pub(super) struct Program {
    pub(super) head: Head,
    pub(super) code: *const c_char,
    pub(super) code_size: usize,
    pub(super) format: *const c_char,
    pub(super) format_size: usize,
}

/// `PJRT_ExecuteOptions`.
#[repr(C)]
pub(super) struct ExecuteOptions {
    pub(super) head: Head,
    pub(super) send_callbacks: *mut c_void,
    pub(super) recv_callbacks: *mut c_void,
    pub(super) num_send_ops: usize,
    pub(super) num_recv_ops: usize,
    pub(super) launch_id: c_int,
    pub(super) non_donatable_input_indices: *const i64,
    pub(super) num_non_donatable_input_indices: usize,
    pub(super) context: *mut c_void,
    pub(super) call_location: *const c_char,
    pub(super) num_tasks: usize,
    pub(super) task_ids: *mut c_int,
    pub(super) incarnation_ids: *mut i64,
}

impl ExecuteOptions {
    /// Options that keep these inputs.
    pub(super) fn keeping(inputs: &[i64]) -> Self {
        Self {
            head: Head::of::<Self>(),
            send_callbacks: ptr::null_mut(),
            recv_callbacks: ptr::null_mut(),
            num_send_ops: 0,
            num_recv_ops: 0,
            launch_id: 0,
            non_donatable_input_indices: inputs.as_ptr(),
            num_non_donatable_input_indices: inputs.len(),
            context: ptr::null_mut(),
            call_location: ptr::null(),
            num_tasks: 0,
            task_ids: ptr::null_mut(),
            incarnation_ids: ptr::null_mut(),
        }
    }
}

/// `PJRT_Buffer_MemoryLayout` in its tiled form, which is the longer one of the union.
#[repr(C)]
pub(super) struct MemoryLayout {
    pub(super) head: Head,
    pub(super) tiled: TiledLayout,
    pub(super) layout_type: c_int,
}

/// `PJRT_Buffer_MemoryLayout_Tiled`.
#[repr(C)]
pub(super) struct TiledLayout {
    pub(super) head: Head,
    pub(super) minor_to_major: *const i64,
    pub(super) minor_to_major_size: usize,
    pub(super) tile_dims: *const i64,
    pub(super) tile_dim_sizes: *const usize,
    pub(super) num_tiles: usize,
}

impl MemoryLayout {
    /// The untiled layout with this order of dimensions, innermost first.
    pub(super) fn untiled(minor_to_major: &[i64]) -> Self {
        let tiled = TiledLayout {
            head: Head::of::<TiledLayout>(),
            minor_to_major: minor_to_major.as_ptr(),
            minor_to_major_size: minor_to_major.len(),
            tile_dims: ptr::null(),
            tile_dim_sizes: ptr::null(),
            num_tiles: 0,
        };
        Self { head: Head::of::<Self>(), tiled, layout_type: 0 }
    }
}

/// The caller's bytes are read during the call only.
pub(super) const IMMUTABLE_ONLY_DURING_CALL: c_int = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_major_version_or_a_short_table_is_not_usable() {
        let api = |major, functions: usize| {
            let struct_size = size_of::<Api>() + functions * size_of::<Function>();
            let head = Head { struct_size, ..Head::of::<Api>() };
            Api { head, version_head: Head::of::<Api>(), major, minor: 81 }
        };
        assert!(api(0, NUM_FUNCTIONS).is_usable());
        assert!(api(0, NUM_FUNCTIONS + 50).is_usable());
        assert!(!api(0, NUM_FUNCTIONS - 1).is_usable());
        assert!(!api(1, NUM_FUNCTIONS).is_usable());
    }

    /// Sizes that a C compiler gives for version 0.81 on a 64-bit machine.
    #[test]
    fn structs_have_the_sizes_of_the_header() {
        assert_eq!(size_of::<Api>(), 40);
        assert_eq!(size_of::<ErrorMessage>(), 40);
        assert_eq!(size_of::<ClientCreate>(), 88);
        assert_eq!(size_of::<NamedValue>(), 56);
        assert_eq!(size_of::<Program>(), 48);
        assert_eq!(size_of::<ClientCompile>(), 56);
        assert_eq!(size_of::<ClientBufferFromHostBuffer>(), 120);
        assert_eq!(size_of::<BufferToHostBuffer>(), 56);
        assert_eq!(size_of::<MemoryLayout>(), 80);
        assert_eq!(size_of::<TiledLayout>(), 56);
        assert_eq!(size_of::<ExecuteOptions>(), 112);
        assert_eq!(size_of::<LoadedExecutableExecute>(), 80);
        assert_eq!(size_of::<ExecutableMemoryStats>(), 112);
    }
}
