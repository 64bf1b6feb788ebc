//! Options that a client is created with.

use super::ffi;
use crate::{Result, RuntimeError, Status, StatusCode};
use std::collections::BTreeSet;
use std::path::Path;

/// The option by which the CPU plugin is told its number of devices.
const CPU_DEVICE_COUNT: &str = "cpu_device_count";

/// The create options of a client, in the order in which they are given; none unless said otherwise.
///
/// Which options there are is up to the plugin: that of the CPU knows `cpu_device_count`, XLA's for CUDA `memory_fraction`,
/// `visible_devices` and others, Neuron's is started without any and reads its environment instead. Options that it does not
/// know, CUDA's plugin refuses and the CPU's ignores.
///
/// ```
/// use halite_runtime::ClientOptions;
///
/// let cuda = ClientOptions::default().with("memory_fraction", 0.9).with("visible_devices", [0, 1]);
/// assert_ne!(cuda, ClientOptions::cpu(2));
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClientOptions(Vec<(String, OptionValue)>);

/// The value of a create option, one of the types of `PJRT_NamedValue` in the PJRT C API.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum OptionValue {
    /// `kString`.
    Text(String),
    /// `kInt64`.
    Int(i64),
    /// `kInt64List`.
    Ints(Vec<i64>),
    /// `kFloat`.
    Float(f32),
    /// `kBool`.
    Bool(bool),
}

macro_rules! values {
    ($($ty:ty => $variant:ident),*) => {$(
        impl From<$ty> for OptionValue {
            fn from(value: $ty) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

values!(&str => Text, String => Text, i64 => Int, Vec<i64> => Ints, &[i64] => Ints, f32 => Float, bool => Bool);

impl<const N: usize> From<[i64; N]> for OptionValue {
    fn from(value: [i64; N]) -> Self {
        Self::Ints(value.into())
    }
}

impl ClientOptions {
    /// The options of the CPU plugin for this many devices; how many there are without options is up to the plugin.
    pub fn cpu(num_devices: usize) -> Self {
        // What does not fit is refused like any other number that is too large.
        Self::default().with(CPU_DEVICE_COUNT, i64::try_from(num_devices).unwrap_or(i64::MAX))
    }

    /// The options of a plugin that is to have so many devices. Only the CPU plugin, which is recognized by its file name, is given
    /// the number: other plugins have as many devices as the hardware, and some refuse options that they do not know.
    pub fn of(plugin: &Path, num_devices: usize) -> Self {
        let name = plugin.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_lowercase());
        if name.contains("cpu") { Self::cpu(num_devices) } else { Self::default() }
    }

    /// The same options and one more. Opening refuses an empty name and one that is given twice.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<OptionValue>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    /// The number of CPU devices that is asked for, 0 if none is.
    ///
    /// # Errors
    /// [`RuntimeError::Client`] when a name is empty or given twice, or the number of CPU devices is not an
    /// [`OptionValue::Int`] of 1 to 2^31 - 1: on another type, the CPU plugin ends the process.
    pub(super) fn check(&self) -> Result<usize> {
        let refuse = |text| Err(RuntimeError::Client(Status::new(StatusCode::InvalidArgument, text)));
        let (mut names, mut num_devices) = (BTreeSet::new(), 0);
        for (name, value) in &self.0 {
            if name.is_empty() {
                return refuse("a create option has no name".to_owned());
            }
            if !names.insert(name) {
                return refuse(format!("the create option `{name}` is given twice"));
            }
            if name != CPU_DEVICE_COUNT {
                continue;
            }
            let OptionValue::Int(count) = value else {
                return refuse(format!("the create option `{name}` is no integer"));
            };
            match usize::try_from(*count) {
                Ok(count @ 1..=0x7fff_ffff) => num_devices = count,
                _ => return refuse(format!("{count} devices cannot be had")),
            }
        }
        Ok(num_devices)
    }

    /// The names, for messages: `` `a`, `b` ``.
    pub(super) fn names(&self) -> String {
        self.0.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// The options as PJRT takes them. They point into `self`.
    pub(super) fn named_values(&self) -> Vec<ffi::NamedValue> {
        self.0.iter().map(|(name, value)| named_value(name, value)).collect()
    }
}

fn named_value(name: &str, value: &OptionValue) -> ffi::NamedValue {
    let (value_type, value, value_size) = match value {
        OptionValue::Text(text) => (ffi::NAMED_STRING, ffi::Value { string: text.as_ptr().cast() }, text.len()),
        OptionValue::Int(int64) => (ffi::NAMED_INT64, ffi::Value { int64: *int64 }, 1),
        OptionValue::Ints(list) => (ffi::NAMED_INT64_LIST, ffi::Value { int64_list: list.as_ptr() }, list.len()),
        OptionValue::Float(float) => (ffi::NAMED_FLOAT, ffi::Value { float: *float }, 1),
        OptionValue::Bool(boolean) => (ffi::NAMED_BOOL, ffi::Value { boolean: *boolean }, 1),
    };
    let head = ffi::Head::of::<ffi::NamedValue>();
    ffi::NamedValue { head, name: name.as_ptr().cast(), name_size: name.len(), value_type, value, value_size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &ClientOptions) -> String {
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn what_no_plugin_can_take_is_refused() {
        assert_eq!(ClientOptions::default().check(), Ok(0));
        assert_eq!(ClientOptions::cpu(3).with("x", "y").check(), Ok(3));
        for count in ["0", "-1", "2147483648"] {
            let options = ClientOptions::default().with("cpu_device_count", count.parse::<i64>().unwrap());
            assert!(refused(&options).contains(&format!("{count} devices cannot be had")));
        }
        assert!(refused(&ClientOptions::cpu(usize::MAX)).contains("devices cannot be had"));
        let others: [OptionValue; 4] = ["1".into(), 1.0.into(), true.into(), [1].into()];
        for value in others {
            let options = ClientOptions::default().with("cpu_device_count", value);
            assert!(refused(&options).contains("`cpu_device_count` is no integer"));
        }
        assert!(refused(&ClientOptions::default().with("", 1)).contains("has no name"));
        assert!(refused(&ClientOptions::cpu(1).with("a", 1).with("a", true)).contains("`a` is given twice"));
    }
}
