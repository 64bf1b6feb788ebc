//! The runtime of the process, from `nrt_init` to `nrt_close`.

use super::error::NrtError;
use super::ffi::{self, Version};
use super::library::Functions;
use super::options::NrtOptions;
use super::status::NrtCall;
use super::version::NrtVersion;
use super::worker::Worker;
use crate::{Result, RuntimeError};
use std::ffi::{CStr, c_int};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The device file of the first device, as the vendor's documents of containers have it.
const FIRST_DEVICE: &str = "/dev/neuron0";

/// The runtime that is started. There is one of a process, which users share; the last one ends it.
pub(super) struct Session {
    pub(super) worker: Arc<Worker>,
    pub(super) version: NrtVersion,
}

/// The runtime that is started at present.
struct Live {
    path: PathBuf,
    worker: Arc<Worker>,
    version: NrtVersion,
    users: usize,
}

static LIVE: Mutex<Option<Live>> = Mutex::new(None);

fn live() -> MutexGuard<'static, Option<Live>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Starts the runtime of the library at `path`, or joins those who use it already.
    ///
    /// # Errors
    /// When the library cannot be opened or is of another major version, another one is in use, or the runtime does not start.
    pub(super) fn open(path: &Path, options: &NrtOptions) -> Result<Self> {
        let failed = |reason: String| RuntimeError::from(NrtError::Load { path: path.to_path_buf(), reason });
        let path = path.canonicalize().map_err(|error| failed(error.to_string()))?;
        let mut live = live();
        if let Some(live) = &mut *live {
            if live.path != path {
                return Err(failed(format!("this process uses `{}` already", live.path.display())));
            }
            live.users += 1;
            return Ok(Self { worker: Arc::clone(&live.worker), version: live.version.clone() });
        }
        let functions = Functions::open(&path).map_err(failed)?;
        let started = Worker::start(functions, options.give_up.clone());
        let worker = started.map_err(|error| failed(error.to_string()))?;
        let version = version(&worker, options)?;
        if version.numbers[0] != ffi::MAJOR_VERSION {
            return Err(NrtError::Version { path, found: version, needed: ffi::MAJOR_VERSION }.into());
        }
        init(&worker, options)?;
        let worker = Arc::new(worker);
        *live = Some(Live { path, worker: Arc::clone(&worker), version: version.clone(), users: 1 });
        Ok(Self { worker, version })
    }

    /// The logical cores of this process.
    ///
    /// # Errors
    /// When the library does not say.
    pub(super) fn cores(&self, options: &NrtOptions) -> Result<u32> {
        let count = self.worker.call(NrtCall::VisibleCount, options.call_timeout, |functions| {
            let mut count = 0;
            // SAFETY: the pointer is to a number that lives through the call.
            let status = unsafe { (functions.nrt_get_visible_vnc_count)(&raw mut count) };
            (status, count)
        });
        let (status, count) = count?;
        NrtError::check(NrtCall::VisibleCount, status)?;
        Ok(count)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let mut live = live();
        let Some(used) = &mut *live else { return };
        used.users -= 1;
        // One that hangs is never ended, and never started again.
        if used.users > 0 || used.worker.is_stuck() {
            return;
        }
        // SAFETY: the runtime is started, and all that was made in it was freed by calls before: who had it kept the session alive.
        let close = |functions: &Functions| unsafe { (functions.nrt_close)() };
        // Where it does not come back, the worker says so to whoever starts again.
        let _ = used.worker.call(NrtCall::Close, NrtOptions::default().call_timeout, close);
        if !used.worker.is_stuck() {
            *live = None;
        }
    }
}

fn version(worker: &Worker, options: &NrtOptions) -> Result<NrtVersion> {
    let asked = worker.call(NrtCall::Version, options.call_timeout, |functions| {
        let (detail, git_hash) = ([0; ffi::DETAIL_BYTES], [0; ffi::HASH_BYTES]);
        let mut version = Version { major: 0, minor: 0, patch: 0, maintenance: 0, detail, git_hash };
        // SAFETY: the struct is that of the header, has the size that is told, and lives through the call.
        let status = unsafe { (functions.nrt_get_version)(&raw mut version, size_of::<Version>()) };
        (status, version)
    });
    let (status, version) = asked?;
    NrtError::check(NrtCall::Version, status)?;
    let bytes: Vec<u8> = version.detail.iter().map(|byte| byte.cast_unsigned()).collect();
    let detail = CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned());
    let numbers = [version.major, version.minor, version.patch, version.maintenance];
    Ok(NrtVersion { numbers, detail: detail.unwrap_or_default() })
}

fn init(worker: &Worker, options: &NrtOptions) -> Result<()> {
    let status: c_int = worker.call(NrtCall::Init, options.load_timeout, |functions| {
        // SAFETY: both texts end with a zero and live as long as the process.
        unsafe { (functions.nrt_init)(ffi::NO_FRAMEWORK, c"".as_ptr(), c"".as_ptr()) }
    })?;
    let checked = NrtError::check(NrtCall::Init, status).map_err(|error| match error {
        NrtError::Status { status, .. } if !status.is_about_cores() && !Path::new(FIRST_DEVICE).exists() => {
            NrtError::Driver { status, device: FIRST_DEVICE }
        }
        error => error,
    });
    Ok(checked?)
}
