module @every_opcode attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func private @twice(
      %x.0: tensor<4x8xf32> loc(#loc1)) -> (tensor<4x8xf32>) {
    %add.1 = "stablehlo.add"(%x.0, %x.0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    "func.return"(%add.1) : (tensor<4x8xf32>) -> () loc(#loc0)
  } loc(#loc0)
  func.func public @main(
      %x.26: tensor<4x8xf32> {tf.aliasing_output = 0 : i32, mhlo.frontend_attributes = {"neff_input_names" = "input0000"}} loc(#loc1),
      %layers.0.ints.27: tensor<4x8xi32> {tf.aliasing_output = 145 : i32} loc(#loc2),
      %_0flags.28: tensor<4x8xi1> loc(#loc3),
      %state.29: tensor<2xui64> loc(#loc4)) -> (
      tensor<4x8xf32> {jax.result_info = "output0000"},
      tensor<4x8xf32> {jax.result_info = "output0001"},
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xi32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xi1>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xi32>,
      tensor<4x8xi32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xi32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xi32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xi32>,
      tensor<4x8xi32>,
      tensor<4x8xi32>,
      tensor<4x8xf32>,
      tensor<4x8xi32>,
      tensor<4x8xi1>,
      tensor<4x8xi1>,
      tensor<4x8xi1>,
      tensor<4x8xi1>,
      tensor<4x8xi1>,
      tensor<4x8xi1>,
      tensor<4x8xi1>,
      tensor<4x8xi1>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xi1>,
      tensor<4x8xi8>,
      tensor<4x8xui8>,
      tensor<4x8xi16>,
      tensor<4x8xui16>,
      tensor<4x8xi32>,
      tensor<4x8xui32>,
      tensor<4x8xi64>,
      tensor<4x8xui64>,
      tensor<4x8xbf16>,
      tensor<4x8xf16>,
      tensor<4x8xf32>,
      tensor<4x8xf64>,
      tensor<4x8xi32>,
      tensor<4x8x2xui16>,
      tensor<4x8xf32>,
      tensor<2x3xf32>,
      tensor<4x8xf32>,
      tensor<2x16xf32>,
      tensor<8x4xf32>,
      tensor<4x8xf32>,
      tensor<4x3xf32>,
      tensor<4x2xf32>,
      tensor<4x31xf32>,
      tensor<7x8xf32>,
      tensor<4x24xf32>,
      tensor<8xf32>,
      tensor<8xf32>,
      tensor<8xf32>,
      tensor<8xi1>,
      tensor<8xi1>,
      tensor<8xf32>,
      tensor<4x4xf32>,
      tensor<4xf32>,
      tensor<4x4xf32>,
      tensor<3x4xf32>,
      tensor<4x8xf32>,
      tensor<4x4xf32>,
      tensor<4x4x2xf32>,
      tensor<2x2x1xf64>,
      tensor<2x3xf32>,
      tensor<4x8xf32>,
      tensor<3x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x2xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x16xf32>,
      tensor<2x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<ui32>,
      tensor<2x2xi1>,
      tensor<i1>,
      tensor<2x2xi8>,
      tensor<i8>,
      tensor<2x2xui8>,
      tensor<ui8>,
      tensor<2x2xi16>,
      tensor<i16>,
      tensor<2x2xui16>,
      tensor<ui16>,
      tensor<2x2xi32>,
      tensor<i32>,
      tensor<2x2xui32>,
      tensor<ui32>,
      tensor<2x2xi64>,
      tensor<i64>,
      tensor<2x2xui64>,
      tensor<ui64>,
      tensor<2x2xbf16>,
      tensor<bf16>,
      tensor<2x2xf16>,
      tensor<f16>,
      tensor<2x2xf32>,
      tensor<f32>,
      tensor<2x2xf64>,
      tensor<f64>,
      tensor<10xbf16>,
      tensor<10xf16>,
      tensor<10xf32>,
      tensor<10xf64>,
      tensor<2xi64>,
      tensor<1x2x3xi32>,
      tensor<0xi32>,
      tensor<2x0xi32>,
      tensor<3x4xi32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<5xui32>,
      tensor<2xui64>,
      tensor<4x8xf32>,
      tensor<4x8xf32>,
      tensor<4x8xi32>,
      tensor<4x8xf32>,
      tensor<4x8xf32>) {
    %abs.30 = "stablehlo.abs"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %cbrt.31 = "stablehlo.cbrt"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %ceil.32 = "stablehlo.ceil"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %cosine.33 = "stablehlo.cosine"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %count-leading-zeros.34 = "stablehlo.count_leading_zeros"(%layers.0.ints.27) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %erf.35 = "chlo.erf"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %exponential.36 = "stablehlo.exponential"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %exponential-minus-one.37 = "stablehlo.exponential_minus_one"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %floor.38 = "stablehlo.floor"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %is-finite.39 = "stablehlo.is_finite"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %log.40 = "stablehlo.log"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %log-plus-one.41 = "stablehlo.log_plus_one"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %logistic.42 = "stablehlo.logistic"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %negate.43 = "stablehlo.negate"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %not.44 = "stablehlo.not"(%layers.0.ints.27) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %popcnt.45 = "stablehlo.popcnt"(%layers.0.ints.27) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %round-nearest-afz.46 = "stablehlo.round_nearest_afz"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %round-nearest-even.47 = "stablehlo.round_nearest_even"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %rsqrt.48 = "stablehlo.rsqrt"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sign.49 = "stablehlo.sign"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sine.50 = "stablehlo.sine"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sqrt.51 = "stablehlo.sqrt"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %tan.52 = "stablehlo.tan"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %tanh.53 = "stablehlo.tanh"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %add.54 = "stablehlo.add"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %and.55 = "stablehlo.and"(%layers.0.ints.27, %layers.0.ints.27) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %atan2.56 = "stablehlo.atan2"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %divide.57 = "stablehlo.divide"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %maximum.58 = "stablehlo.maximum"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %minimum.59 = "stablehlo.minimum"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %multiply.60 = "stablehlo.multiply"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %or.61 = "stablehlo.or"(%layers.0.ints.27, %layers.0.ints.27) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %power.62 = "stablehlo.power"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %remainder.63 = "stablehlo.remainder"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %shift-left.64 = "stablehlo.shift_left"(%layers.0.ints.27, %layers.0.ints.27) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %shift-right-arithmetic.65 = "stablehlo.shift_right_arithmetic"(%layers.0.ints.27, %layers.0.ints.27) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %shift-right-logical.66 = "stablehlo.shift_right_logical"(%layers.0.ints.27, %layers.0.ints.27) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %subtract.67 = "stablehlo.subtract"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %xor.68 = "stablehlo.xor"(%layers.0.ints.27, %layers.0.ints.27) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %compare.69 = "stablehlo.compare"(%x.26, %x.26) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.70 = "stablehlo.compare"(%x.26, %x.26) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.71 = "stablehlo.compare"(%x.26, %x.26) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.72 = "stablehlo.compare"(%x.26, %x.26) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.73 = "stablehlo.compare"(%x.26, %x.26) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.74 = "stablehlo.compare"(%x.26, %x.26) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.75 = "stablehlo.compare"(%layers.0.ints.27, %layers.0.ints.27) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.76 = "stablehlo.compare"(%_0flags.28, %_0flags.28) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1> loc(#loc0)
    %select.77 = "stablehlo.select"(%_0flags.28, %x.26, %x.26) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %clamp.78 = "stablehlo.clamp"(%x.26, %x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %convert.79 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %convert.80 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xi8> loc(#loc0)
    %convert.81 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xui8> loc(#loc0)
    %convert.82 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xi16> loc(#loc0)
    %convert.83 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xui16> loc(#loc0)
    %convert.84 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xi32> loc(#loc0)
    %convert.85 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xui32> loc(#loc0)
    %convert.86 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xi64> loc(#loc0)
    %convert.87 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xui64> loc(#loc0)
    %convert.88 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc(#loc0)
    %convert.89 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc(#loc0)
    %convert.90 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %convert.91 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf64> loc(#loc0)
    %bitcast-convert.92 = "stablehlo.bitcast_convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xi32> loc(#loc0)
    %bitcast-convert.93 = "stablehlo.bitcast_convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8x2xui16> loc(#loc0)
    %constant.95 = "stablehlo.constant"() <{value = dense<-1.5> : tensor<f32>}> : () -> tensor<f32> loc(#loc5)
    %iota.96 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf32> loc(#loc5)
    %broadcast.97 = "stablehlo.broadcast_in_dim"(%constant.95) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32> loc(#loc5)
    %broadcast.98 = "stablehlo.broadcast_in_dim"(%iota.96) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32> loc(#loc5)
    %reshape.99 = "stablehlo.reshape"(%x.26) : (tensor<4x8xf32>) -> tensor<2x16xf32> loc(#loc5)
    %transpose.100 = "stablehlo.transpose"(%x.26) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32> loc(#loc5)
    %reverse.101 = "stablehlo.reverse"(%x.26) <{dimensions = array<i64: 0, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc5)
    %slice.102 = "stablehlo.slice"(%x.26) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 3>}> : (tensor<4x8xf32>) -> tensor<4x3xf32> loc(#loc5)
    %slice.103 = "stablehlo.slice"(%x.26) <{start_indices = array<i64: 0, 2>, limit_indices = array<i64: 4, 4>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x2xf32> loc(#loc5)
    %pad.104 = "stablehlo.pad"(%x.26, %constant.95) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: -1, 2>, interior_padding = array<i64: 0, 3>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x31xf32> loc(#loc5)
    %pad.105 = "stablehlo.pad"(%x.26, %constant.95) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 2, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x8xf32> loc(#loc5)
    %concatenate.106 = "stablehlo.concatenate"(%x.26, %x.26, %x.26) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32> loc(#loc5)
    %constant.107 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32> loc(#loc0)
    %reduce.108 = "stablehlo.reduce"(%x.26, %constant.107) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.109 = "stablehlo.reduce"(%x.26, %constant.107) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.5: tensor<f32> loc(#loc0), %rhs.6: tensor<f32> loc(#loc0)):
      %maximum.7 = "stablehlo.maximum"(%lhs.5, %rhs.6) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%maximum.7) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.110 = "stablehlo.reduce"(%x.26, %constant.107) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.8: tensor<f32> loc(#loc0), %rhs.9: tensor<f32> loc(#loc0)):
      %minimum.10 = "stablehlo.minimum"(%lhs.8, %rhs.9) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%minimum.10) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %constant.111 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1> loc(#loc0)
    %reduce.112 = "stablehlo.reduce"(%_0flags.28, %constant.111) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.11: tensor<i1> loc(#loc0), %rhs.12: tensor<i1> loc(#loc0)):
      %and.13 = "stablehlo.and"(%lhs.11, %rhs.12) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%and.13) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %reduce.113 = "stablehlo.reduce"(%_0flags.28, %constant.111) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.14: tensor<i1> loc(#loc0), %rhs.15: tensor<i1> loc(#loc0)):
      %or.16 = "stablehlo.or"(%lhs.14, %rhs.15) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%or.16) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %reduce.114 = "stablehlo.reduce"(%x.26, %constant.107) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.17: tensor<f32> loc(#loc0), %rhs.18: tensor<f32> loc(#loc0)):
      %multiply.19 = "stablehlo.multiply"(%lhs.17, %rhs.18) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%multiply.19) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %dot.115 = "stablehlo.dot_general"(%x.26, %x.26) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32> loc(#loc0)
    %convert.116 = "stablehlo.convert"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc(#loc0)
    %dot.117 = "stablehlo.dot_general"(%convert.116, %convert.116) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4xf32> loc(#loc0)
    %reshape.118 = "stablehlo.reshape"(%x.26) : (tensor<4x8xf32>) -> tensor<2x4x4xf32> loc(#loc0)
    %reshape.119 = "stablehlo.reshape"(%x.26) : (tensor<4x8xf32>) -> tensor<4x2x4xf32> loc(#loc0)
    %constant.120 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32> loc(#loc0)
    %reduce-window.121 = "stablehlo.reduce_window"(%x.26, %constant.120) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.5: tensor<f32> loc(#loc0), %rhs.6: tensor<f32> loc(#loc0)):
      %maximum.7 = "stablehlo.maximum"(%lhs.5, %rhs.6) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%maximum.7) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x4xf32> loc(#loc0)
    %reduce-window.122 = "stablehlo.reduce_window"(%x.26, %constant.120) <{window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 2>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x4xf32> loc(#loc0)
    %select-and-scatter.123 = "stablehlo.select_and_scatter"(%x.26, %reduce-window.121, %constant.120) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.20: tensor<f32> loc(#loc0), %rhs.21: tensor<f32> loc(#loc0)):
      %compare.22 = "stablehlo.compare"(%lhs.20, %rhs.21) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%compare.22) : (tensor<i1>) -> () loc(#loc0)
    }, {
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x8xf32> loc(#loc0)
    %convolution.124 = "stablehlo.convolution"(%x.26, %x.26) <{window_strides = array<i64>, padding = dense<> : tensor<0x2xi64>, lhs_dilation = array<i64>, rhs_dilation = array<i64>, window_reversal = array<i1>, dimension_numbers = #stablehlo.conv<[b, f]x[o, i]->[b, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32> loc(#loc0)
    %convolution.125 = "stablehlo.convolution"(%reshape.118, %reshape.119) <{window_strides = array<i64: 2>, padding = dense<[[1, -1]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 3>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[o, i, 0]->[0, f, b]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x4xf32>, tensor<4x2x4xf32>) -> tensor<4x4x2xf32> loc(#loc0)
    %convolution.126 = "stablehlo.convolution"(%reshape.118, %reshape.118) <{window_strides = array<i64: 2>, padding = dense<[[1, -1]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 3>, rhs_dilation = array<i64: 2>, window_reversal = array<i1: true>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[o, i, 0]->[0, f, b]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64}> : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x2x1xf64> loc(#loc0)
    %constant.127 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32> loc(#loc0)
    %dynamic-slice.128 = "stablehlo.dynamic_slice"(%x.26, %constant.127, %constant.127) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32> loc(#loc0)
    %dynamic-update-slice.129 = "stablehlo.dynamic_update_slice"(%x.26, %dynamic-slice.128, %constant.127, %constant.127) : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32> loc(#loc0)
    %constant.130 = "stablehlo.constant"() <{value = dense<[0, 2, 1]> : tensor<3xi32>}> : () -> tensor<3xi32> loc(#loc0)
    %gather.131 = "stablehlo.gather"(%x.26, %constant.130) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>, indices_are_sorted = true}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32> loc(#loc0)
    %scatter.132 = "stablehlo.scatter"(%x.26, %constant.130, %gather.131) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %scatter.133 = "stablehlo.scatter"(%x.26, %constant.130, %gather.131) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = true, unique_indices = true}> ({
    ^bb0(%lhs.23: tensor<f32> loc(#loc0), %rhs.24: tensor<f32> loc(#loc0)):
      "stablehlo.return"(%rhs.24) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %iota.134 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x2x1xi32> loc(#loc0)
    %gather.135 = "stablehlo.gather"(%x.26, %iota.134) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4x8xf32>, tensor<4x2x1xi32>) -> tensor<4x2xf32> loc(#loc0)
    %scatter.136 = "stablehlo.scatter"(%x.26, %iota.134, %gather.135) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<4x2x1xi32>, tensor<4x2xf32>) -> tensor<4x8xf32> loc(#loc0)
    %all-reduce.137 = "stablehlo.all_reduce"(%x.26) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %all-gather.138 = "stablehlo.all_gather"(%x.26) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32> loc(#loc0)
    %reduce-scatter.139 = "stablehlo.reduce_scatter"(%x.26) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>) -> tensor<2x8xf32> loc(#loc0)
    %all-to-all.140 = "stablehlo.all_to_all"(%x.26) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %collective-permute.141 = "stablehlo.collective_permute"(%x.26) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %replica-id.142 = "stablehlo.replica_id"() : () -> tensor<ui32> loc(#loc0)
    %constant.143 = "stablehlo.constant"() <{value = dense<[[false, true], [true, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1> loc(#loc0)
    %constant.144 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi8>}> : () -> tensor<2x2xi8> loc(#loc0)
    %constant.145 = "stablehlo.constant"() <{value = dense<1> : tensor<i8>}> : () -> tensor<i8> loc(#loc0)
    %constant.146 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui8>}> : () -> tensor<2x2xui8> loc(#loc0)
    %constant.147 = "stablehlo.constant"() <{value = dense<1> : tensor<ui8>}> : () -> tensor<ui8> loc(#loc0)
    %constant.148 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi16>}> : () -> tensor<2x2xi16> loc(#loc0)
    %constant.149 = "stablehlo.constant"() <{value = dense<1> : tensor<i16>}> : () -> tensor<i16> loc(#loc0)
    %constant.150 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui16>}> : () -> tensor<2x2xui16> loc(#loc0)
    %constant.151 = "stablehlo.constant"() <{value = dense<1> : tensor<ui16>}> : () -> tensor<ui16> loc(#loc0)
    %constant.152 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32> loc(#loc0)
    %constant.153 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui32>}> : () -> tensor<2x2xui32> loc(#loc0)
    %constant.154 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32> loc(#loc0)
    %constant.155 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64> loc(#loc0)
    %constant.156 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64> loc(#loc0)
    %constant.157 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui64>}> : () -> tensor<2x2xui64> loc(#loc0)
    %constant.158 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64> loc(#loc0)
    %constant.159 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xbf16>}> : () -> tensor<2x2xbf16> loc(#loc0)
    %constant.160 = "stablehlo.constant"() <{value = dense<1.0> : tensor<bf16>}> : () -> tensor<bf16> loc(#loc0)
    %constant.161 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf16>}> : () -> tensor<2x2xf16> loc(#loc0)
    %constant.162 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f16>}> : () -> tensor<f16> loc(#loc0)
    %constant.163 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32> loc(#loc0)
    %constant.164 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf64>}> : () -> tensor<2x2xf64> loc(#loc0)
    %constant.165 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f64>}> : () -> tensor<f64> loc(#loc0)
    %constant.166 = "stablehlo.constant"() <{value = dense<[0.100097656, -1.001358e-5, 0.33398438, 9999221000.0, 0x7F80, 0xFF80, 0x7FC0, -0.0, 9.984021e-31, 65536.0]> : tensor<10xbf16>}> : () -> tensor<10xbf16> loc(#loc0)
    %constant.167 = "stablehlo.constant"() <{value = dense<[0.099975586, -1.001358e-5, 0.33325195, 0x7C00, 0x7C00, 0xFC00, 0x7E00, -0.0, 0.0, 65504.0]> : tensor<10xf16>}> : () -> tensor<10xf16> loc(#loc0)
    %constant.168 = "stablehlo.constant"() <{value = dense<[0.1, -1.0e-5, 0.33333334, 10000000000.0, 0x7F800000, 0xFF800000, 0x7FC00000, -0.0, 1.0e-30, 65504.0]> : tensor<10xf32>}> : () -> tensor<10xf32> loc(#loc0)
    %constant.169 = "stablehlo.constant"() <{value = dense<[0.1, -1.0e-5, 0.3333333333333333, 10000000000.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, -0.0, 1.0e-30, 65504.0]> : tensor<10xf64>}> : () -> tensor<10xf64> loc(#loc0)
    %constant.170 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>}> : () -> tensor<2xi64> loc(#loc0)
    %constant.171 = "stablehlo.constant"() <{value = dense<[[[0, 1, 2], [3, 4, 5]]]> : tensor<1x2x3xi32>}> : () -> tensor<1x2x3xi32> loc(#loc0)
    %constant.172 = "stablehlo.constant"() <{value = dense<> : tensor<0xi32>}> : () -> tensor<0xi32> loc(#loc0)
    %constant.173 = "stablehlo.constant"() <{value = dense<> : tensor<2x0xi32>}> : () -> tensor<2x0xi32> loc(#loc0)
    %constant.174 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>}> : () -> tensor<3x4xi32> loc(#loc0)
    %opt-barrier.175 = "stablehlo.optimization_barrier"(%x.26) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %opt-barrier.177:2 = "stablehlo.optimization_barrier"(%x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc(#loc0)
    %call.180 = "func.call"(%x.26) <{callee = @twice}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %rng-bit-generator.181:2 = "stablehlo.rng_bit_generator"(%state.29) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>) loc(#loc0)
    %rng-bit-generator.183:2 = "stablehlo.rng_bit_generator"(%state.29) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>) loc(#loc0)
    %custom-call.185 = "stablehlo.custom_call"(%x.26) <{call_target_name = "AwsNeuronSilu", backend_config = "1", api_version = 2 : i32}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %custom-call.186:2 = "stablehlo.custom_call"(%x.26, %layers.0.ints.27) <{call_target_name = "Pair", has_side_effect = true, api_version = 2 : i32}> : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc(#loc0)
    "func.return"(%abs.30, %cbrt.31, %ceil.32, %cosine.33, %count-leading-zeros.34, %erf.35, %exponential.36, %exponential-minus-one.37, %floor.38, %is-finite.39, %log.40, %log-plus-one.41, %logistic.42, %negate.43, %not.44, %popcnt.45, %round-nearest-afz.46, %round-nearest-even.47, %rsqrt.48, %sign.49, %sine.50, %sqrt.51, %tan.52, %tanh.53, %add.54, %and.55, %atan2.56, %divide.57, %maximum.58, %minimum.59, %multiply.60, %or.61, %power.62, %remainder.63, %shift-left.64, %shift-right-arithmetic.65, %shift-right-logical.66, %subtract.67, %xor.68, %compare.69, %compare.70, %compare.71, %compare.72, %compare.73, %compare.74, %compare.75, %compare.76, %select.77, %clamp.78, %convert.79, %convert.80, %convert.81, %convert.82, %convert.83, %convert.84, %convert.85, %convert.86, %convert.87, %convert.88, %convert.89, %convert.90, %convert.91, %bitcast-convert.92, %bitcast-convert.93, %x.26, %broadcast.97, %broadcast.98, %reshape.99, %transpose.100, %reverse.101, %slice.102, %slice.103, %pad.104, %pad.105, %concatenate.106, %reduce.108, %reduce.109, %reduce.110, %reduce.112, %reduce.113, %reduce.114, %dot.115, %dot.117, %reduce-window.121, %reduce-window.122, %select-and-scatter.123, %convolution.124, %convolution.125, %convolution.126, %dynamic-slice.128, %dynamic-update-slice.129, %gather.131, %scatter.132, %scatter.133, %gather.135, %scatter.136, %all-reduce.137, %all-gather.138, %reduce-scatter.139, %all-to-all.140, %collective-permute.141, %replica-id.142, %constant.143, %constant.111, %constant.144, %constant.145, %constant.146, %constant.147, %constant.148, %constant.149, %constant.150, %constant.151, %constant.152, %constant.127, %constant.153, %constant.154, %constant.155, %constant.156, %constant.157, %constant.158, %constant.159, %constant.160, %constant.161, %constant.162, %constant.163, %constant.107, %constant.164, %constant.165, %constant.166, %constant.167, %constant.168, %constant.169, %constant.170, %constant.171, %constant.172, %constant.173, %constant.174, %opt-barrier.175, %opt-barrier.177#0, %opt-barrier.177#1, %call.180, %rng-bit-generator.181#1, %rng-bit-generator.183#0, %custom-call.185, %custom-call.186#0, %layers.0.ints.27, %x.26, %x.26) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xi8>, tensor<4x8xui8>, tensor<4x8xi16>, tensor<4x8xui16>, tensor<4x8xi32>, tensor<4x8xui32>, tensor<4x8xi64>, tensor<4x8xui64>, tensor<4x8xbf16>, tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf64>, tensor<4x8xi32>, tensor<4x8x2xui16>, tensor<4x8xf32>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<2x16xf32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x31xf32>, tensor<7x8xf32>, tensor<4x24xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>, tensor<8xi1>, tensor<8xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<3x4xf32>, tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4x2xf32>, tensor<2x2x1xf64>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<3x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<2x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<ui32>, tensor<2x2xi1>, tensor<i1>, tensor<2x2xi8>, tensor<i8>, tensor<2x2xui8>, tensor<ui8>, tensor<2x2xi16>, tensor<i16>, tensor<2x2xui16>, tensor<ui16>, tensor<2x2xi32>, tensor<i32>, tensor<2x2xui32>, tensor<ui32>, tensor<2x2xi64>, tensor<i64>, tensor<2x2xui64>, tensor<ui64>, tensor<2x2xbf16>, tensor<bf16>, tensor<2x2xf16>, tensor<f16>, tensor<2x2xf32>, tensor<f32>, tensor<2x2xf64>, tensor<f64>, tensor<10xbf16>, tensor<10xf16>, tensor<10xf32>, tensor<10xf64>, tensor<2xi64>, tensor<1x2x3xi32>, tensor<0xi32>, tensor<2x0xi32>, tensor<3x4xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<5xui32>, tensor<2xui64>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>) -> () loc(#loc0)
  } loc(#loc0)
} loc(#loc0)
#loc0 = loc(unknown)
#loc1 = loc("x")
#loc2 = loc("layers.0.ints")
#loc3 = loc("0flags")
#loc4 = loc("state")
#loc5 = loc("model/\22layers\22/0"("models/llama.hal":17:0))
