//! XLA's log does not reach the user: a process of one thread that runs a program writes nothing.
//!
//! The usual harness starts threads, so this test is a program: it runs itself once more and looks at what that wrote.

mod common;

use common::{add, client, compile};
use halite_runtime::evaluate;
use halite_tensor::{DType, HostTensor};
use std::process::{Command, ExitCode};

const CHILD: &str = "HALITE_TEST_QUIET_CHILD";

fn main() -> ExitCode {
    if std::env::var_os(CHILD).is_some() {
        let executor = client(2);
        let ones = HostTensor::from_f64s(DType::Bf16, [4], [1.0; 4]);
        let outputs = evaluate(&executor, compile(&executor, &add(DType::Bf16)).as_ref(), &[ones.clone(), ones]);
        return if outputs.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let this = std::env::current_exe().expect("a process knows its program");
    let output = Command::new(this).env(CHILD, "1").env_remove("TF_CPP_MIN_LOG_LEVEL").output().expect("it runs again");
    let written = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{written}");
    assert!(written.is_empty(), "{written}");
    ExitCode::SUCCESS
}
