//! The runtime leaves the environment of its host alone, also where changing it would be possible: in a process of one
//! thread. The usual harness starts threads, so this test is a program; and since a variable that is set already could not
//! change, it runs itself without the one that XLA's log goes by.

mod common;

use common::{add, client, compile};
use halite_runtime::evaluate;
use halite_tensor::{DType, HostTensor};
use std::process::Command;

const LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";

fn main() {
    if std::env::var_os(LEVEL).is_none() {
        return environment_stays();
    }
    let test = std::env::current_exe().expect("a process knows its program");
    let status = Command::new(test).env_remove(LEVEL).status().expect("the test runs");
    assert!(status.success(), "{status}");
}

fn environment_stays() {
    let before: Vec<_> = std::env::vars_os().collect();
    let executor = client(2);
    let ones = HostTensor::from_f64s(DType::F32, [4], [1.0; 4]);
    let outputs = evaluate(&executor, compile(&executor, &add(DType::F32)).as_ref(), &[ones.clone(), ones]);
    outputs.expect("the program runs");
    assert_eq!(std::env::vars_os().collect::<Vec<_>>(), before);
}
