//! The runtime leaves the environment of its host alone, also where changing it would be possible: in a process of one
//! thread, without the variable that XLA's log goes by, which could not change if it were set already.

use crate::common::{add, client, compile};
use halite_runtime::evaluate;
use halite_tensor::{DType, HostTensor};

/// The host that looks at its environment.
pub(crate) const HOST: &str = "looks";

/// Runs it.
pub(crate) fn check() {
    let status = crate::host(HOST).status().expect("the test runs");
    assert!(status.success(), "{status}");
}

/// Runs a program and compares the environment before and after.
pub(crate) fn stays() {
    let before: Vec<_> = std::env::vars_os().collect();
    let executor = client(2);
    let ones = HostTensor::from_f64s(DType::F32, [4], [1.0; 4]);
    let outputs = evaluate(&executor, compile(&executor, &add(DType::F32)).as_ref(), &[ones.clone(), ones]);
    outputs.expect("the program runs");
    assert_eq!(std::env::vars_os().collect::<Vec<_>>(), before);
}
