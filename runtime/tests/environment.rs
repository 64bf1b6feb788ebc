//! The runtime leaves the environment of its host alone, also where changing it would be possible: in a process of one
//! thread. The usual harness starts threads, so this test is a program.

mod common;

use common::{add, client, compile};
use halite_runtime::evaluate;
use halite_tensor::{DType, HostTensor};

fn main() {
    let before: Vec<_> = std::env::vars_os().collect();
    let executor = client(2);
    let ones = HostTensor::from_f64s(DType::F32, [4], [1.0; 4]);
    let outputs = evaluate(&executor, compile(&executor, &add(DType::F32)).as_ref(), &[ones.clone(), ones]);
    outputs.expect("the program runs");
    assert_eq!(std::env::vars_os().collect::<Vec<_>>(), before);
}
