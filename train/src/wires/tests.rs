//! Two stages as threads that meet as processes do.

use super::*;
use crate::peers::PeerOptions;
use crate::tests::own_address;
use halite_bundle::fixtures::small;
use halite_bundle::{Action, Port, PortRole, Transfer};
use halite_runtime::{DeviceBuffer, Executable, Program, RuntimeError, TensorSpec};
use halite_tensor::{DType, Shape};
use std::io::Cursor;

/// Memory of the host as a device.
#[derive(Debug)]
struct Host(TensorSpec, HostTensor);

impl DeviceBuffer for Host {
    fn spec(&self) -> &TensorSpec {
        &self.0
    }

    fn device(&self) -> usize {
        0
    }

    fn download(&self) -> halite_runtime::Result<HostTensor> {
        Ok(self.1.clone())
    }
}

struct Memory;

impl Executor for Memory {
    fn platform(&self) -> String {
        "memory".to_owned()
    }

    fn num_devices(&self) -> usize {
        1
    }

    fn owns(&self, _: &dyn DeviceBuffer) -> bool {
        true
    }

    fn compile(&self, _: &Program<'_>) -> halite_runtime::Result<Box<dyn Executable>> {
        Err(RuntimeError::Unsupported("this is memory alone".to_owned()))
    }

    fn upload(&self, tensor: &HostTensor, _: usize) -> halite_runtime::Result<Buffer> {
        Ok(Box::new(Host(TensorSpec::of(tensor), tensor.clone())))
    }
}

/// Two stages of one rank: the first sends `x` of two pieces to the second, which sends `y` back, once.
fn manifest() -> Manifest {
    let mut manifest = small().manifest;
    let port = |name: &str, shape: &[usize]| Port {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: shape.to_vec(),
        sharding: None,
        role: PortRole::Value,
        alias: None,
        ranges: Vec::new(),
    };
    let mut module = manifest.modules[0].clone();
    (module.inputs, module.outputs) = (vec![port("y", &[])], vec![port("x", &[2, 3])]);
    let mut other = module.clone();
    (other.name, other.stage) = ("other".to_owned(), 1);
    (other.inputs, other.outputs) = (vec![port("x", &[2, 3])], vec![port("y", &[])]);
    manifest.modules = vec![module, other];
    let transfer =
        |name: &str, from| Transfer { name: format!("of-{name}"), from, to: 1 - from, values: vec![name.to_owned()] };
    manifest.transfers = vec![transfer("x", 0), transfer("y", 1)];
    let send = |name: &str, piece| Action::Send { transfer: name.to_owned(), piece };
    let receive = |name: &str, piece| Action::Receive { transfer: name.to_owned(), piece };
    manifest.schedule = vec![
        vec![send("of-x", Some(0)), send("of-x", Some(1)), receive("of-y", None)],
        vec![receive("of-x", Some(0)), receive("of-x", Some(1)), send("of-y", None)],
    ];
    manifest
}

/// Has two stages meet, and each do something.
fn together<T: Send>(act: impl Fn(Wires, &Manifest) -> T + Sync) -> Vec<T> {
    let (free, manifest) = (own_address().to_string(), manifest());
    let stage = |rank| {
        let (address, patience) = (free.clone(), Duration::from_secs(60));
        let options = PeerOptions { rank, world: 2, address, patience, secret: "of this launch".to_owned() };
        let peers = Peers::join(&options).unwrap();
        act(Wires::open(&peers, &manifest).unwrap().unwrap(), &manifest)
    };
    std::thread::scope(|scope| {
        let stages: Vec<_> = [0, 1].map(|rank| scope.spawn(move || stage(rank))).into();
        stages.into_iter().map(|stage| stage.join().unwrap()).collect()
    })
}

fn tensor(shape: &[usize], start: i128) -> HostTensor {
    let shape = Shape::from(shape);
    HostTensor::from_ints(DType::F32, shape.clone(), (0..shape.num_elements()).map(|at| start + at as i128))
}

fn send(wires: &mut Wires, what: Carried<'_>, value: &HostTensor) -> Result<()> {
    wires.send(&Memory, what, &[&[Memory.upload(value, 0).unwrap()]])
}

#[test]
fn values_and_metrics_come_to_other_stages_in_any_order() {
    let found = together(|mut wires, manifest| {
        let [x, y] = [0, 1].map(|number| &manifest.transfers[number]);
        let mut metrics = Vec::new();
        // An update and the next one, whose values are called the same.
        for call in 0..2 {
            wires.begin().unwrap();
            if wires.stage == 0 {
                for piece in [0, 1] {
                    let value = tensor(&[2, 3], 10 * call + piece as i128);
                    send(&mut wires, Carried { transfer: x, piece: Some(piece) }, &value).unwrap();
                }
                let back = wires.hear(Carried { transfer: y, piece: None }).unwrap();
                assert_eq!(back, [tensor(&[], 7 + call)]);
            } else {
                for piece in [1, 0] {
                    let found = wires.receive(&Memory, Carried { transfer: x, piece: Some(piece) }).unwrap();
                    assert_eq!(found[0][0].download().unwrap(), tensor(&[2, 3], 10 * call + piece as i128));
                }
                send(&mut wires, Carried { transfer: y, piece: None }, &tensor(&[], 7 + call)).unwrap();
            }
            let text = if wires.stage == 0 { r#"[["a",1]]"# } else { r#"[["loss",9221120237041090560]]"# };
            metrics.push(wires.end(&Metrics::of_text(text).unwrap()).unwrap());
        }
        wires.peers.end().unwrap();
        metrics
    });
    for metrics in found.iter().flatten() {
        let names: Vec<&str> = metrics.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "loss"]);
        assert!(metrics.loss().is_nan() && metrics.get("a").unwrap().to_bits() == 1);
    }
}

#[test]
fn the_end_of_a_stage_ends_the_wait_of_others() {
    let ended = together(|wires, manifest| match wires.stage {
        1 => String::new(),
        _ => {
            let mut wires = wires;
            let y = Carried { transfer: &manifest.transfers[1], piece: None };
            wires.hear(y).unwrap_err().message().to_owned()
        }
    });
    assert_eq!(ended, ["rank 1, of stage 1, is gone", ""]);
}

#[test]
fn what_is_not_awaited_ends_the_run_of_all() {
    let both = std::sync::Barrier::new(2);
    let ended = together(|mut wires, manifest| {
        let x = Carried { transfer: &manifest.transfers[0], piece: Some(0) };
        let told = if wires.stage == 0 {
            send(&mut wires, x, &tensor(&[2, 3], 0)).unwrap();
            send(&mut wires, x, &tensor(&[2, 3], 0)).unwrap();
            wires.hear(Carried { transfer: &manifest.transfers[1], piece: None })
        } else {
            wires.hear(Carried { piece: Some(1), ..x })
        };
        both.wait();
        told.unwrap_err().message().to_owned()
    });
    assert_eq!(ended, vec!["stage 0 sends `of-x` twice"; 2]);
}

#[test]
fn a_stage_that_left_an_update_makes_no_other() {
    let both = std::sync::Barrier::new(2);
    let ended = together(|mut wires, _| {
        wires.begin().unwrap();
        let again = if wires.stage == 0 { wires.begin().map(drop) } else { wires.end(&Metrics::default()).map(drop) };
        both.wait();
        again.unwrap_err().message().to_owned()
    });
    assert_eq!(ended, vec!["stage 0 did not come to the end of an update"; 2]);
}

/// Nothing that a label says is believed: neither sizes nor numbers of values.
#[test]
fn labels_are_held_to_the_manifest() {
    let sender = || Sender { stage: 0, awaited: awaited(&manifest(), 1).unwrap().remove(&0).unwrap() };
    let read = |bytes: &[u8]| sender().next(&mut Cursor::new(bytes)).map(|parcel| parcel.map(|parcel| parcel.values));
    let value = tensor(&[2, 3], 5);
    let sound = |piece| Label::new("of-x", piece, std::slice::from_ref(&value)).to_line().unwrap().into_bytes();
    let bytes = [sound(Some(1)), value.bytes().to_vec()].concat();
    assert_eq!(read(&bytes), Ok(Some(vec![value.clone()])));
    for cut in 0..bytes.len() {
        assert_eq!(read(&bytes[..cut]), Ok(None), "{cut} bytes");
    }
    let types = "sends `of-x` in other types than the bundle states";
    for (label, told) in [
        (&sound(Some(2))[..], "sends `of-x` of piece 2, which is not awaited"),
        (&sound(None), "sends `of-x`, which is not awaited"),
        (br#"{"transfer":"of-y","piece":null,"values":[]}"#, "sends `of-y`, which is not awaited"),
        (br#"{"transfer":"of-x","piece":0,"values":[]}"#, types),
        (br#"{"transfer":"of-x","piece":0,"values":[["f32",[3,2]]]}"#, types),
        (br#"{"transfer":"of-x","piece":0,"values":[["s32",[2,3]]]}"#, types),
        (br#"{"transfer":"of-x","piece":0,"values":[["f32",[2,3]],["f32",[2,3]]]}"#, types),
        (br#"{"transfer":"of-x","piece":0,"values":[["f32",[4611686018427387904,4]]]}"#, types),
        (br#"{"transfer":"of-x","piece":0,"values":[["f32",[2,3]]],"more":1}"#, "sends what is no value"),
        (b"GET / HTTP/1.1", "sends what is no value"),
        (&vec![b'x'; 2 << 20], "sends what is no value"),
    ] {
        let line = [label.strip_suffix(b"\n").unwrap_or(label), b"\n"].concat();
        assert_eq!(read(&line).unwrap_err(), told, "{}", String::from_utf8_lossy(&line[..line.len().min(90)]));
    }
}
