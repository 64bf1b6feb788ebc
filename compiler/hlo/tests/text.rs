//! Text against XLA's own printer.

pub(crate) mod up_to_ids;

/// `every_opcode.xla.txt` is what jaxlib 0.10.2 prints for the encoded module; `xla_text.py` makes it. XLA prints instructions in the order in which the
/// root needs them, and computations likewise, so lines are compared as sets.
#[test]
fn every_opcode_prints_as_xla_prints_it() {
    let ours = halite_hlo::text::print(&crate::common::every_opcode().unwrap());
    let expected = include_str!("every_opcode.xla.txt");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect();
        lines.sort();
        lines
    };
    for (ours, expected) in sorted(&ours).iter().zip(&sorted(expected)) {
        assert_eq!(ours, expected);
    }
    assert_eq!(sorted(&ours).len(), sorted(expected).len());
}

#[test]
fn what_the_set_lacks_prints_too() {
    let mut module = crate::common::every_opcode().unwrap();
    let entry = module.computations.last_mut().unwrap();
    let inst = entry.instructions.iter_mut().find(|inst| inst.opcode == "tanh").unwrap();
    inst.opcode = "while".into();
    inst.operand_ids.push(9999);
    inst.called_computation_ids = halite_hlo::proto::Numbers::from_slice(&[0, 1]);
    inst.shape.as_mut().unwrap().element_type = 20;
    let name = inst.name.clone();
    let text = halite_hlo::text::print(&module);
    let line = format!("%{name} = f8e4m3fn[4,8]{{1,0}} while(%x.29, %?9999), condition=%add_f32, body=%twice");
    assert!(text.contains(&line), "{text}");
}

/// The texts are those of jaxlib 0.10.2, of constants of these sizes with the elements 0, 1, ..
#[test]
fn constants_print_as_xla_prints_them() {
    let printed: &[(&[usize], &str)] = &[
        (&[2], "{0, 1}"),
        (&[1, 2, 2], "{ { { 0, 1 }, { 2, 3 } } }"),
        (&[2, 1, 1, 2], "{ { /*i0=0*/ { /*i1=0*/ { 0, 1 } } }, { /*i0=1*/ { /*i1=0*/ { 2, 3 } } } }"),
        (&[1, 1, 2, 1, 2], "{ { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ { 0, 1 } }, { /*i2=1*/ { 2, 3 } } } } }"),
        (&[0], "{}"),
        (&[2, 0], "{ {}, {} }"),
        (&[0, 2], "{  }"),
        (&[1, 0, 2], "{ {  } }"),
        (&[1, 0, 1, 1], "{ { /*i0=0*/ } }"),
        (&[1, 1, 1, 0, 1], "{ { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ } } } }"),
    ];
    for &(sizes, expected) in printed {
        let shape = halite_tensor::Shape::from(sizes);
        let bytes = (0..shape.num_elements() as u8).collect();
        let tensor = halite_tensor::HostTensor::from_bytes(halite_tensor::DType::U8, shape, bytes).unwrap();
        let module = crate::reading::of_constants(&[tensor]).unwrap();
        let text = halite_hlo::text::print_large_constants(&module);
        assert!(text.contains(&format!("constant({expected})")), "{sizes:?}: {text}");
        assert!(halite_hlo::text::read(&halite_support::SourceFile::new("a", text)).is_ok(), "{sizes:?}");
    }
}
