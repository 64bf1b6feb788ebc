//! Both ways without losing a bit, and every mistake by name.

use super::*;
use crate::fixtures::{apart, packed};
use crate::init::initial_state;
use crate::tensors;
use halite_tensor::{DType, HostTensor, Shape};

fn change(tensors: &mut Tensors, name: &str, change: impl FnOnce(&HostTensor) -> HostTensor) {
    let tensor = tensors.get_mut(name).unwrap();
    *tensor = change(tensor);
}

fn messages(errors: Diagnostics) -> Vec<String> {
    errors.iter().map(|error| error.message().to_owned()).collect()
}

#[test]
fn files_come_back_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = |tensors: &Tensors| {
        let path = folder.path().join("x.safetensors");
        tensors::write(&path, tensors).unwrap();
        std::fs::read(&path).unwrap()
    };
    let (manifest, model) = (packed().manifest, initial_state(&apart(), 1).unwrap());
    let stored = to_stored(&manifest, model.clone()).unwrap();
    assert_eq!((stored["qkv"].dtype(), &stored["qkv"].shape()[..]), (DType::Bf16, &[2, 5, 8][..]));
    assert_eq!(to_stored(&manifest, stored.clone()).unwrap(), stored);
    let back = to_model(&manifest, stored.clone()).unwrap();
    assert_eq!(file(&back), file(&model));
    assert_eq!(to_model(&manifest, back.clone()).unwrap(), back);
    assert_eq!(file(&to_stored(&manifest, back).unwrap()), file(&stored));
}

/// Weights alone, and in another type than the bundle's.
#[test]
fn weights_alone_convert_and_keep_their_type() {
    let manifest = packed().manifest;
    let weight = |shape: &[usize]| {
        let shape = Shape::from(shape);
        let count = shape.num_elements();
        HostTensor::from_f64s(DType::F16, shape, std::iter::repeat_n(0.5, count))
    };
    let shapes: [(&str, &[usize]); 5] =
        [("w", &[300, 50]), ("b", &[5]), ("q", &[4, 8]), ("k", &[2, 8]), ("v", &[8, 2])];
    let model: Tensors = shapes.iter().map(|(name, shape)| ((*name).to_owned(), weight(shape))).collect();
    assert_eq!(form_of(&manifest, &model).unwrap(), Some(Form::Model));
    let stored = to_stored(&manifest, model.clone()).unwrap();
    assert_eq!(stored.keys().collect::<Vec<_>>(), ["w", "b", "qkv"]);
    assert_eq!(form_of(&manifest, &stored).unwrap(), Some(Form::Stored));
    assert!(stored.values().all(|tensor| tensor.dtype() == DType::F16));
    let mut back = to_model(&manifest, stored).unwrap();
    back.sort_keys();
    assert!(back.iter().all(|(name, tensor)| model[name] == *tensor) && back.len() == model.len());
}

#[test]
fn copies_that_differ_are_refused() {
    let manifest = packed().manifest;
    let mut stored = to_stored(&manifest, initial_state(&packed(), 1).unwrap()).unwrap();
    change(&mut stored, "m.qkv", |tensor| {
        let mut values = tensor.f64s();
        values[3 * 8] = 1.0;
        HostTensor::from_f64s(tensor.dtype(), tensor.shape().clone(), values)
    });
    let error = to_model(&manifest, stored).unwrap_err().remove(0);
    assert_eq!(error.message(), "the copies of `k` on ranks 0 and 1 differ");
    assert!(error.notes().iter().any(|note| note == "stored in `m.qkv`"), "{error:?}");
}

#[test]
fn tensors_that_do_not_fit_are_all_named() {
    let manifest = packed().manifest;
    let mut model = initial_state(&apart(), 1).unwrap();
    model.swap_remove("m.k").unwrap();
    model.insert("kk".into(), model["k"].clone());
    model.swap_remove("k").unwrap();
    change(&mut model, "v", |_| HostTensor::zeros(DType::Bf16, [2, 8]));
    let errors = to_stored(&manifest, model.clone()).unwrap_err();
    assert!(errors.iter().any(|error| error.help_text() == Some("did you mean `k`?")));
    let expected = [
        "the tensor `k` is missing",
        "the tensor `v` has the shape [2,8], the bundle has [8,2]",
        "the tensor `m.k` is missing",
        "the bundle has no tensor `kk`",
    ];
    assert_eq!(messages(errors), expected);
    model.insert("qkv".into(), HostTensor::zeros(DType::F32, [2, 5, 8]));
    let clash = form_of(&manifest, &model).unwrap_err();
    assert_eq!(messages(clash), ["`qkv` is what the bundle stores, `q` is a tensor of the model"]);
    assert_eq!(messages(to_model(&manifest, Tensors::new()).unwrap_err()), ["there are no tensors to convert"]);
}

#[test]
fn what_is_given_is_packed_and_unpacked_beside_what_is_no_state() {
    let manifest = packed().manifest;
    let mut given = initial_state(&apart(), 1).unwrap();
    let stored = to_stored(&manifest, given.clone()).unwrap();
    given.insert("tokens".into(), HostTensor::zeros(DType::S32, [2, 4]));
    let packed = pack_given(&manifest, given.clone()).unwrap();
    assert!(stored.iter().all(|(name, tensor)| packed[name] == *tensor));
    assert_eq!(packed.len(), stored.len() + 1);
    assert_eq!(unpack_given(&manifest, packed.clone()).unwrap(), given);
    let refused = "`qkv` is several tensors stored as one, as a bundle has them: `q`, `k` and `v`";
    assert_eq!(messages(pack_given(&manifest, packed).unwrap_err()), [refused]);
    given.swap_remove("m.v").unwrap();
    assert_eq!(messages(pack_given(&manifest, given).unwrap_err()), ["the tensor `m.v` is missing"]);
}
