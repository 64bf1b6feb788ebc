module @every_opcode attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func private @twice(
      %x.0: tensor<4x8xf32> loc(#loc1)) -> (tensor<4x8xf32>) {
    %add.1 = "stablehlo.add"(%x.0, %x.0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    "func.return"(%add.1) : (tensor<4x8xf32>) -> () loc(#loc0)
  } loc(#loc0)
  func.func public @main(
      %x.29: tensor<4x8xf32> {tf.aliasing_output = 0 : i32, mhlo.frontend_attributes = {"neff_input_names" = "input0000"}} loc(#loc1),
      %layers.0.ints.30: tensor<4x8xi32> {tf.aliasing_output = 146 : i32} loc(#loc2),
      %_0flags.31: tensor<4x8xi1> loc(#loc3),
      %state.32: tensor<2xui64> loc(#loc4)) -> (
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
      tensor<8xi1>,
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
    %abs.33 = "stablehlo.abs"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %cbrt.34 = "stablehlo.cbrt"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %ceil.35 = "stablehlo.ceil"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %cosine.36 = "stablehlo.cosine"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %count-leading-zeros.37 = "stablehlo.count_leading_zeros"(%layers.0.ints.30) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %erf.38 = "chlo.erf"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %exponential.39 = "stablehlo.exponential"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %exponential-minus-one.40 = "stablehlo.exponential_minus_one"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %floor.41 = "stablehlo.floor"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %is-finite.42 = "stablehlo.is_finite"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %log.43 = "stablehlo.log"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %log-plus-one.44 = "stablehlo.log_plus_one"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %logistic.45 = "stablehlo.logistic"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %negate.46 = "stablehlo.negate"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %not.47 = "stablehlo.not"(%layers.0.ints.30) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %popcnt.48 = "stablehlo.popcnt"(%layers.0.ints.30) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %round-nearest-afz.49 = "stablehlo.round_nearest_afz"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %round-nearest-even.50 = "stablehlo.round_nearest_even"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %rsqrt.51 = "stablehlo.rsqrt"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sign.52 = "stablehlo.sign"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sine.53 = "stablehlo.sine"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sqrt.54 = "stablehlo.sqrt"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %tan.55 = "stablehlo.tan"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %tanh.56 = "stablehlo.tanh"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %add.57 = "stablehlo.add"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %and.58 = "stablehlo.and"(%layers.0.ints.30, %layers.0.ints.30) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %atan2.59 = "stablehlo.atan2"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %divide.60 = "stablehlo.divide"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %maximum.61 = "stablehlo.maximum"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %minimum.62 = "stablehlo.minimum"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %multiply.63 = "stablehlo.multiply"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %or.64 = "stablehlo.or"(%layers.0.ints.30, %layers.0.ints.30) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %power.65 = "stablehlo.power"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %remainder.66 = "stablehlo.remainder"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %shift-left.67 = "stablehlo.shift_left"(%layers.0.ints.30, %layers.0.ints.30) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %shift-right-arithmetic.68 = "stablehlo.shift_right_arithmetic"(%layers.0.ints.30, %layers.0.ints.30) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %shift-right-logical.69 = "stablehlo.shift_right_logical"(%layers.0.ints.30, %layers.0.ints.30) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %subtract.70 = "stablehlo.subtract"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %xor.71 = "stablehlo.xor"(%layers.0.ints.30, %layers.0.ints.30) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %compare.72 = "stablehlo.compare"(%x.29, %x.29) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.73 = "stablehlo.compare"(%x.29, %x.29) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.74 = "stablehlo.compare"(%x.29, %x.29) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.75 = "stablehlo.compare"(%x.29, %x.29) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.76 = "stablehlo.compare"(%x.29, %x.29) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.77 = "stablehlo.compare"(%x.29, %x.29) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.78 = "stablehlo.compare"(%layers.0.ints.30, %layers.0.ints.30) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.79 = "stablehlo.compare"(%_0flags.31, %_0flags.31) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1> loc(#loc0)
    %select.80 = "stablehlo.select"(%_0flags.31, %x.29, %x.29) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %clamp.81 = "stablehlo.clamp"(%x.29, %x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %convert.82 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %convert.83 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xi8> loc(#loc0)
    %convert.84 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xui8> loc(#loc0)
    %convert.85 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xi16> loc(#loc0)
    %convert.86 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xui16> loc(#loc0)
    %convert.87 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xi32> loc(#loc0)
    %convert.88 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xui32> loc(#loc0)
    %convert.89 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xi64> loc(#loc0)
    %convert.90 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xui64> loc(#loc0)
    %convert.91 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc(#loc0)
    %convert.92 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc(#loc0)
    %convert.93 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %convert.94 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf64> loc(#loc0)
    %bitcast-convert.95 = "stablehlo.bitcast_convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xi32> loc(#loc0)
    %bitcast-convert.96 = "stablehlo.bitcast_convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8x2xui16> loc(#loc0)
    %constant.98 = "stablehlo.constant"() <{value = dense<-1.5> : tensor<f32>}> : () -> tensor<f32> loc(#loc5)
    %iota.99 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf32> loc(#loc5)
    %broadcast.100 = "stablehlo.broadcast_in_dim"(%constant.98) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32> loc(#loc5)
    %broadcast.101 = "stablehlo.broadcast_in_dim"(%iota.99) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32> loc(#loc5)
    %reshape.102 = "stablehlo.reshape"(%x.29) : (tensor<4x8xf32>) -> tensor<2x16xf32> loc(#loc5)
    %transpose.103 = "stablehlo.transpose"(%x.29) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32> loc(#loc5)
    %reverse.104 = "stablehlo.reverse"(%x.29) <{dimensions = array<i64: 0, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc5)
    %slice.105 = "stablehlo.slice"(%x.29) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 3>}> : (tensor<4x8xf32>) -> tensor<4x3xf32> loc(#loc5)
    %slice.106 = "stablehlo.slice"(%x.29) <{start_indices = array<i64: 0, 2>, limit_indices = array<i64: 4, 4>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x2xf32> loc(#loc5)
    %pad.107 = "stablehlo.pad"(%x.29, %constant.98) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: -1, 2>, interior_padding = array<i64: 0, 3>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x31xf32> loc(#loc5)
    %pad.108 = "stablehlo.pad"(%x.29, %constant.98) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 2, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x8xf32> loc(#loc5)
    %concatenate.109 = "stablehlo.concatenate"(%x.29, %x.29, %x.29) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32> loc(#loc5)
    %constant.110 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32> loc(#loc0)
    %reduce.111 = "stablehlo.reduce"(%x.29, %constant.110) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.112 = "stablehlo.reduce"(%x.29, %constant.110) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.5: tensor<f32> loc(#loc0), %rhs.6: tensor<f32> loc(#loc0)):
      %maximum.7 = "stablehlo.maximum"(%lhs.5, %rhs.6) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%maximum.7) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.113 = "stablehlo.reduce"(%x.29, %constant.110) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.8: tensor<f32> loc(#loc0), %rhs.9: tensor<f32> loc(#loc0)):
      %minimum.10 = "stablehlo.minimum"(%lhs.8, %rhs.9) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%minimum.10) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %constant.114 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1> loc(#loc0)
    %reduce.115 = "stablehlo.reduce"(%_0flags.31, %constant.114) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.11: tensor<i1> loc(#loc0), %rhs.12: tensor<i1> loc(#loc0)):
      %and.13 = "stablehlo.and"(%lhs.11, %rhs.12) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%and.13) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %reduce.116 = "stablehlo.reduce"(%_0flags.31, %constant.114) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.14: tensor<i1> loc(#loc0), %rhs.15: tensor<i1> loc(#loc0)):
      %or.16 = "stablehlo.or"(%lhs.14, %rhs.15) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%or.16) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %reduce.117 = "stablehlo.reduce"(%x.29, %constant.110) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.17: tensor<f32> loc(#loc0), %rhs.18: tensor<f32> loc(#loc0)):
      %multiply.19 = "stablehlo.multiply"(%lhs.17, %rhs.18) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%multiply.19) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.118 = "stablehlo.reduce"(%_0flags.31, %constant.114) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.20: tensor<i1> loc(#loc0), %rhs.21: tensor<i1> loc(#loc0)):
      %xor.22 = "stablehlo.xor"(%lhs.20, %rhs.21) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%xor.22) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %dot.119 = "stablehlo.dot_general"(%x.29, %x.29) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32> loc(#loc0)
    %convert.120 = "stablehlo.convert"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc(#loc0)
    %dot.121 = "stablehlo.dot_general"(%convert.120, %convert.120) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4xf32> loc(#loc0)
    %reshape.122 = "stablehlo.reshape"(%x.29) : (tensor<4x8xf32>) -> tensor<2x4x4xf32> loc(#loc0)
    %reshape.123 = "stablehlo.reshape"(%x.29) : (tensor<4x8xf32>) -> tensor<4x2x4xf32> loc(#loc0)
    %constant.124 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32> loc(#loc0)
    %reduce-window.125 = "stablehlo.reduce_window"(%x.29, %constant.124) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.5: tensor<f32> loc(#loc0), %rhs.6: tensor<f32> loc(#loc0)):
      %maximum.7 = "stablehlo.maximum"(%lhs.5, %rhs.6) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%maximum.7) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x4xf32> loc(#loc0)
    %reduce-window.126 = "stablehlo.reduce_window"(%x.29, %constant.124) <{window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 2>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x4xf32> loc(#loc0)
    %select-and-scatter.127 = "stablehlo.select_and_scatter"(%x.29, %reduce-window.125, %constant.124) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.23: tensor<f32> loc(#loc0), %rhs.24: tensor<f32> loc(#loc0)):
      %compare.25 = "stablehlo.compare"(%lhs.23, %rhs.24) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%compare.25) : (tensor<i1>) -> () loc(#loc0)
    }, {
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x8xf32> loc(#loc0)
    %convolution.128 = "stablehlo.convolution"(%x.29, %x.29) <{window_strides = array<i64>, padding = dense<> : tensor<0x2xi64>, lhs_dilation = array<i64>, rhs_dilation = array<i64>, window_reversal = array<i1>, dimension_numbers = #stablehlo.conv<[b, f]x[o, i]->[b, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32> loc(#loc0)
    %convolution.129 = "stablehlo.convolution"(%reshape.122, %reshape.123) <{window_strides = array<i64: 2>, padding = dense<[[1, -1]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 3>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[o, i, 0]->[0, f, b]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x4xf32>, tensor<4x2x4xf32>) -> tensor<4x4x2xf32> loc(#loc0)
    %convolution.130 = "stablehlo.convolution"(%reshape.122, %reshape.122) <{window_strides = array<i64: 2>, padding = dense<[[1, -1]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 3>, rhs_dilation = array<i64: 2>, window_reversal = array<i1: true>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[o, i, 0]->[0, f, b]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64}> : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x2x1xf64> loc(#loc0)
    %constant.131 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32> loc(#loc0)
    %dynamic-slice.132 = "stablehlo.dynamic_slice"(%x.29, %constant.131, %constant.131) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32> loc(#loc0)
    %dynamic-update-slice.133 = "stablehlo.dynamic_update_slice"(%x.29, %dynamic-slice.132, %constant.131, %constant.131) : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32> loc(#loc0)
    %constant.134 = "stablehlo.constant"() <{value = dense<[0, 2, 1]> : tensor<3xi32>}> : () -> tensor<3xi32> loc(#loc0)
    %gather.135 = "stablehlo.gather"(%x.29, %constant.134) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>, indices_are_sorted = true}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32> loc(#loc0)
    %scatter.136 = "stablehlo.scatter"(%x.29, %constant.134, %gather.135) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %scatter.137 = "stablehlo.scatter"(%x.29, %constant.134, %gather.135) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = true, unique_indices = true}> ({
    ^bb0(%lhs.26: tensor<f32> loc(#loc0), %rhs.27: tensor<f32> loc(#loc0)):
      "stablehlo.return"(%rhs.27) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %iota.138 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x2x1xi32> loc(#loc0)
    %gather.139 = "stablehlo.gather"(%x.29, %iota.138) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4x8xf32>, tensor<4x2x1xi32>) -> tensor<4x2xf32> loc(#loc0)
    %scatter.140 = "stablehlo.scatter"(%x.29, %iota.138, %gather.139) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<4x2x1xi32>, tensor<4x2xf32>) -> tensor<4x8xf32> loc(#loc0)
    %all-reduce.141 = "stablehlo.all_reduce"(%x.29) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %all-gather.142 = "stablehlo.all_gather"(%x.29) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32> loc(#loc0)
    %reduce-scatter.143 = "stablehlo.reduce_scatter"(%x.29) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>) -> tensor<2x8xf32> loc(#loc0)
    %all-to-all.144 = "stablehlo.all_to_all"(%x.29) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %collective-permute.145 = "stablehlo.collective_permute"(%x.29) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %replica-id.146 = "stablehlo.replica_id"() : () -> tensor<ui32> loc(#loc0)
    %constant.147 = "stablehlo.constant"() <{value = dense<[[false, true], [true, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1> loc(#loc0)
    %constant.148 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi8>}> : () -> tensor<2x2xi8> loc(#loc0)
    %constant.149 = "stablehlo.constant"() <{value = dense<1> : tensor<i8>}> : () -> tensor<i8> loc(#loc0)
    %constant.150 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui8>}> : () -> tensor<2x2xui8> loc(#loc0)
    %constant.151 = "stablehlo.constant"() <{value = dense<1> : tensor<ui8>}> : () -> tensor<ui8> loc(#loc0)
    %constant.152 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi16>}> : () -> tensor<2x2xi16> loc(#loc0)
    %constant.153 = "stablehlo.constant"() <{value = dense<1> : tensor<i16>}> : () -> tensor<i16> loc(#loc0)
    %constant.154 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui16>}> : () -> tensor<2x2xui16> loc(#loc0)
    %constant.155 = "stablehlo.constant"() <{value = dense<1> : tensor<ui16>}> : () -> tensor<ui16> loc(#loc0)
    %constant.156 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32> loc(#loc0)
    %constant.157 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui32>}> : () -> tensor<2x2xui32> loc(#loc0)
    %constant.158 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32> loc(#loc0)
    %constant.159 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64> loc(#loc0)
    %constant.160 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64> loc(#loc0)
    %constant.161 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui64>}> : () -> tensor<2x2xui64> loc(#loc0)
    %constant.162 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64> loc(#loc0)
    %constant.163 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xbf16>}> : () -> tensor<2x2xbf16> loc(#loc0)
    %constant.164 = "stablehlo.constant"() <{value = dense<1.0> : tensor<bf16>}> : () -> tensor<bf16> loc(#loc0)
    %constant.165 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf16>}> : () -> tensor<2x2xf16> loc(#loc0)
    %constant.166 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f16>}> : () -> tensor<f16> loc(#loc0)
    %constant.167 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32> loc(#loc0)
    %constant.168 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf64>}> : () -> tensor<2x2xf64> loc(#loc0)
    %constant.169 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f64>}> : () -> tensor<f64> loc(#loc0)
    %constant.170 = "stablehlo.constant"() <{value = dense<[0.100097656, -1.001358e-5, 0.33398438, 9999221000.0, 0x7F80, 0xFF80, 0x7FC0, -0.0, 9.984021e-31, 65536.0]> : tensor<10xbf16>}> : () -> tensor<10xbf16> loc(#loc0)
    %constant.171 = "stablehlo.constant"() <{value = dense<[0.099975586, -1.001358e-5, 0.33325195, 0x7C00, 0x7C00, 0xFC00, 0x7E00, -0.0, 0.0, 65504.0]> : tensor<10xf16>}> : () -> tensor<10xf16> loc(#loc0)
    %constant.172 = "stablehlo.constant"() <{value = dense<[0.1, -1.0e-5, 0.33333334, 10000000000.0, 0x7F800000, 0xFF800000, 0x7FC00000, -0.0, 1.0e-30, 65504.0]> : tensor<10xf32>}> : () -> tensor<10xf32> loc(#loc0)
    %constant.173 = "stablehlo.constant"() <{value = dense<[0.1, -1.0e-5, 0.3333333333333333, 10000000000.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, -0.0, 1.0e-30, 65504.0]> : tensor<10xf64>}> : () -> tensor<10xf64> loc(#loc0)
    %constant.174 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>}> : () -> tensor<2xi64> loc(#loc0)
    %constant.175 = "stablehlo.constant"() <{value = dense<[[[0, 1, 2], [3, 4, 5]]]> : tensor<1x2x3xi32>}> : () -> tensor<1x2x3xi32> loc(#loc0)
    %constant.176 = "stablehlo.constant"() <{value = dense<> : tensor<0xi32>}> : () -> tensor<0xi32> loc(#loc0)
    %constant.177 = "stablehlo.constant"() <{value = dense<> : tensor<2x0xi32>}> : () -> tensor<2x0xi32> loc(#loc0)
    %constant.178 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>}> : () -> tensor<3x4xi32> loc(#loc0)
    %opt-barrier.179 = "stablehlo.optimization_barrier"(%x.29) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %opt-barrier.181:2 = "stablehlo.optimization_barrier"(%x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc(#loc0)
    %call.184 = "func.call"(%x.29) <{callee = @twice}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %rng-bit-generator.185:2 = "stablehlo.rng_bit_generator"(%state.32) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>) loc(#loc0)
    %rng-bit-generator.187:2 = "stablehlo.rng_bit_generator"(%state.32) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>) loc(#loc0)
    %custom-call.189 = "stablehlo.custom_call"(%x.29) <{call_target_name = "AwsNeuronSilu", backend_config = "1", api_version = 2 : i32}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %custom-call.190:2 = "stablehlo.custom_call"(%x.29, %layers.0.ints.30) <{call_target_name = "Pair", has_side_effect = true, api_version = 2 : i32}> : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc(#loc0)
    "func.return"(%abs.33, %cbrt.34, %ceil.35, %cosine.36, %count-leading-zeros.37, %erf.38, %exponential.39, %exponential-minus-one.40, %floor.41, %is-finite.42, %log.43, %log-plus-one.44, %logistic.45, %negate.46, %not.47, %popcnt.48, %round-nearest-afz.49, %round-nearest-even.50, %rsqrt.51, %sign.52, %sine.53, %sqrt.54, %tan.55, %tanh.56, %add.57, %and.58, %atan2.59, %divide.60, %maximum.61, %minimum.62, %multiply.63, %or.64, %power.65, %remainder.66, %shift-left.67, %shift-right-arithmetic.68, %shift-right-logical.69, %subtract.70, %xor.71, %compare.72, %compare.73, %compare.74, %compare.75, %compare.76, %compare.77, %compare.78, %compare.79, %select.80, %clamp.81, %convert.82, %convert.83, %convert.84, %convert.85, %convert.86, %convert.87, %convert.88, %convert.89, %convert.90, %convert.91, %convert.92, %convert.93, %convert.94, %bitcast-convert.95, %bitcast-convert.96, %x.29, %broadcast.100, %broadcast.101, %reshape.102, %transpose.103, %reverse.104, %slice.105, %slice.106, %pad.107, %pad.108, %concatenate.109, %reduce.111, %reduce.112, %reduce.113, %reduce.115, %reduce.116, %reduce.117, %reduce.118, %dot.119, %dot.121, %reduce-window.125, %reduce-window.126, %select-and-scatter.127, %convolution.128, %convolution.129, %convolution.130, %dynamic-slice.132, %dynamic-update-slice.133, %gather.135, %scatter.136, %scatter.137, %gather.139, %scatter.140, %all-reduce.141, %all-gather.142, %reduce-scatter.143, %all-to-all.144, %collective-permute.145, %replica-id.146, %constant.147, %constant.114, %constant.148, %constant.149, %constant.150, %constant.151, %constant.152, %constant.153, %constant.154, %constant.155, %constant.156, %constant.131, %constant.157, %constant.158, %constant.159, %constant.160, %constant.161, %constant.162, %constant.163, %constant.164, %constant.165, %constant.166, %constant.167, %constant.110, %constant.168, %constant.169, %constant.170, %constant.171, %constant.172, %constant.173, %constant.174, %constant.175, %constant.176, %constant.177, %constant.178, %opt-barrier.179, %opt-barrier.181#0, %opt-barrier.181#1, %call.184, %rng-bit-generator.185#1, %rng-bit-generator.187#0, %custom-call.189, %custom-call.190#0, %layers.0.ints.30, %x.29, %x.29) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xi8>, tensor<4x8xui8>, tensor<4x8xi16>, tensor<4x8xui16>, tensor<4x8xi32>, tensor<4x8xui32>, tensor<4x8xi64>, tensor<4x8xui64>, tensor<4x8xbf16>, tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf64>, tensor<4x8xi32>, tensor<4x8x2xui16>, tensor<4x8xf32>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<2x16xf32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x31xf32>, tensor<7x8xf32>, tensor<4x24xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>, tensor<8xi1>, tensor<8xf32>, tensor<8xi1>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<3x4xf32>, tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4x2xf32>, tensor<2x2x1xf64>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<3x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<2x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<ui32>, tensor<2x2xi1>, tensor<i1>, tensor<2x2xi8>, tensor<i8>, tensor<2x2xui8>, tensor<ui8>, tensor<2x2xi16>, tensor<i16>, tensor<2x2xui16>, tensor<ui16>, tensor<2x2xi32>, tensor<i32>, tensor<2x2xui32>, tensor<ui32>, tensor<2x2xi64>, tensor<i64>, tensor<2x2xui64>, tensor<ui64>, tensor<2x2xbf16>, tensor<bf16>, tensor<2x2xf16>, tensor<f16>, tensor<2x2xf32>, tensor<f32>, tensor<2x2xf64>, tensor<f64>, tensor<10xbf16>, tensor<10xf16>, tensor<10xf32>, tensor<10xf64>, tensor<2xi64>, tensor<1x2x3xi32>, tensor<0xi32>, tensor<2x0xi32>, tensor<3x4xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<5xui32>, tensor<2xui64>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>) -> () loc(#loc0)
  } loc(#loc0)
} loc(#loc0)
#loc0 = loc(unknown)
#loc1 = loc("x")
#loc2 = loc("layers.0.ints")
#loc3 = loc("0flags")
#loc4 = loc("state")
#loc5 = loc("model/\22layers\22/0"("models/llama.hal":17:0))
