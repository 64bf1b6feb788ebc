module @every_opcode attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func private @twice(
      %x.0: tensor<4x8xf32> loc(#loc1)) -> (tensor<4x8xf32>) {
    %add.1 = "stablehlo.add"(%x.0, %x.0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    "func.return"(%add.1) : (tensor<4x8xf32>) -> () loc(#loc0)
  } loc(#loc0)
  func.func public @main(
      %x.23: tensor<4x8xf32> {tf.aliasing_output = 0 : i32, mhlo.frontend_attributes = {"neff_input_names" = "input0000"}} loc(#loc1),
      %layers.0.ints.24: tensor<4x8xi32> {tf.aliasing_output = 139 : i32} loc(#loc2),
      %_0flags.25: tensor<4x8xi1> loc(#loc3),
      %state.26: tensor<2xui64> loc(#loc4)) -> (
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
    %abs.27 = "stablehlo.abs"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %cbrt.28 = "stablehlo.cbrt"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %ceil.29 = "stablehlo.ceil"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %cosine.30 = "stablehlo.cosine"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %count-leading-zeros.31 = "stablehlo.count_leading_zeros"(%layers.0.ints.24) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %erf.32 = "chlo.erf"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %exponential.33 = "stablehlo.exponential"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %exponential-minus-one.34 = "stablehlo.exponential_minus_one"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %floor.35 = "stablehlo.floor"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %is-finite.36 = "stablehlo.is_finite"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %log.37 = "stablehlo.log"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %log-plus-one.38 = "stablehlo.log_plus_one"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %logistic.39 = "stablehlo.logistic"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %negate.40 = "stablehlo.negate"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %not.41 = "stablehlo.not"(%layers.0.ints.24) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %popcnt.42 = "stablehlo.popcnt"(%layers.0.ints.24) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %round-nearest-afz.43 = "stablehlo.round_nearest_afz"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %round-nearest-even.44 = "stablehlo.round_nearest_even"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %rsqrt.45 = "stablehlo.rsqrt"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sign.46 = "stablehlo.sign"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sine.47 = "stablehlo.sine"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sqrt.48 = "stablehlo.sqrt"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %tan.49 = "stablehlo.tan"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %tanh.50 = "stablehlo.tanh"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %add.51 = "stablehlo.add"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %and.52 = "stablehlo.and"(%layers.0.ints.24, %layers.0.ints.24) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %atan2.53 = "stablehlo.atan2"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %divide.54 = "stablehlo.divide"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %maximum.55 = "stablehlo.maximum"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %minimum.56 = "stablehlo.minimum"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %multiply.57 = "stablehlo.multiply"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %or.58 = "stablehlo.or"(%layers.0.ints.24, %layers.0.ints.24) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %power.59 = "stablehlo.power"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %remainder.60 = "stablehlo.remainder"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %shift-left.61 = "stablehlo.shift_left"(%layers.0.ints.24, %layers.0.ints.24) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %shift-right-arithmetic.62 = "stablehlo.shift_right_arithmetic"(%layers.0.ints.24, %layers.0.ints.24) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %shift-right-logical.63 = "stablehlo.shift_right_logical"(%layers.0.ints.24, %layers.0.ints.24) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %subtract.64 = "stablehlo.subtract"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %xor.65 = "stablehlo.xor"(%layers.0.ints.24, %layers.0.ints.24) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %compare.66 = "stablehlo.compare"(%x.23, %x.23) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.67 = "stablehlo.compare"(%x.23, %x.23) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.68 = "stablehlo.compare"(%x.23, %x.23) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.69 = "stablehlo.compare"(%x.23, %x.23) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.70 = "stablehlo.compare"(%x.23, %x.23) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.71 = "stablehlo.compare"(%x.23, %x.23) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.72 = "stablehlo.compare"(%layers.0.ints.24, %layers.0.ints.24) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.73 = "stablehlo.compare"(%_0flags.25, %_0flags.25) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1> loc(#loc0)
    %select.74 = "stablehlo.select"(%_0flags.25, %x.23, %x.23) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %clamp.75 = "stablehlo.clamp"(%x.23, %x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %convert.76 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %convert.77 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xi8> loc(#loc0)
    %convert.78 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xui8> loc(#loc0)
    %convert.79 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xi16> loc(#loc0)
    %convert.80 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xui16> loc(#loc0)
    %convert.81 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xi32> loc(#loc0)
    %convert.82 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xui32> loc(#loc0)
    %convert.83 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xi64> loc(#loc0)
    %convert.84 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xui64> loc(#loc0)
    %convert.85 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc(#loc0)
    %convert.86 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc(#loc0)
    %convert.87 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %convert.88 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf64> loc(#loc0)
    %bitcast-convert.89 = "stablehlo.bitcast_convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xi32> loc(#loc0)
    %bitcast-convert.90 = "stablehlo.bitcast_convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8x2xui16> loc(#loc0)
    %constant.92 = "stablehlo.constant"() <{value = dense<-1.5> : tensor<f32>}> : () -> tensor<f32> loc(#loc5)
    %iota.93 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf32> loc(#loc5)
    %broadcast.94 = "stablehlo.broadcast_in_dim"(%constant.92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32> loc(#loc5)
    %broadcast.95 = "stablehlo.broadcast_in_dim"(%iota.93) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32> loc(#loc5)
    %reshape.96 = "stablehlo.reshape"(%x.23) : (tensor<4x8xf32>) -> tensor<2x16xf32> loc(#loc5)
    %transpose.97 = "stablehlo.transpose"(%x.23) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32> loc(#loc5)
    %reverse.98 = "stablehlo.reverse"(%x.23) <{dimensions = array<i64: 0, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc5)
    %slice.99 = "stablehlo.slice"(%x.23) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 3>}> : (tensor<4x8xf32>) -> tensor<4x3xf32> loc(#loc5)
    %slice.100 = "stablehlo.slice"(%x.23) <{start_indices = array<i64: 0, 2>, limit_indices = array<i64: 4, 4>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x2xf32> loc(#loc5)
    %pad.101 = "stablehlo.pad"(%x.23, %constant.92) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: -1, 2>, interior_padding = array<i64: 0, 3>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x31xf32> loc(#loc5)
    %pad.102 = "stablehlo.pad"(%x.23, %constant.92) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 2, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x8xf32> loc(#loc5)
    %concatenate.103 = "stablehlo.concatenate"(%x.23, %x.23, %x.23) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32> loc(#loc5)
    %constant.104 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32> loc(#loc0)
    %reduce.105 = "stablehlo.reduce"(%x.23, %constant.104) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.106 = "stablehlo.reduce"(%x.23, %constant.104) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.5: tensor<f32> loc(#loc0), %rhs.6: tensor<f32> loc(#loc0)):
      %maximum.7 = "stablehlo.maximum"(%lhs.5, %rhs.6) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%maximum.7) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.107 = "stablehlo.reduce"(%x.23, %constant.104) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.8: tensor<f32> loc(#loc0), %rhs.9: tensor<f32> loc(#loc0)):
      %minimum.10 = "stablehlo.minimum"(%lhs.8, %rhs.9) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%minimum.10) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %constant.108 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1> loc(#loc0)
    %reduce.109 = "stablehlo.reduce"(%_0flags.25, %constant.108) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.11: tensor<i1> loc(#loc0), %rhs.12: tensor<i1> loc(#loc0)):
      %and.13 = "stablehlo.and"(%lhs.11, %rhs.12) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%and.13) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %reduce.110 = "stablehlo.reduce"(%_0flags.25, %constant.108) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.14: tensor<i1> loc(#loc0), %rhs.15: tensor<i1> loc(#loc0)):
      %or.16 = "stablehlo.or"(%lhs.14, %rhs.15) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%or.16) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %reduce.111 = "stablehlo.reduce"(%x.23, %constant.104) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.17: tensor<f32> loc(#loc0), %rhs.18: tensor<f32> loc(#loc0)):
      %multiply.19 = "stablehlo.multiply"(%lhs.17, %rhs.18) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%multiply.19) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %dot.112 = "stablehlo.dot_general"(%x.23, %x.23) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32> loc(#loc0)
    %convert.113 = "stablehlo.convert"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc(#loc0)
    %dot.114 = "stablehlo.dot_general"(%convert.113, %convert.113) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4xf32> loc(#loc0)
    %constant.115 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32> loc(#loc0)
    %dynamic-slice.116 = "stablehlo.dynamic_slice"(%x.23, %constant.115, %constant.115) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32> loc(#loc0)
    %dynamic-update-slice.117 = "stablehlo.dynamic_update_slice"(%x.23, %dynamic-slice.116, %constant.115, %constant.115) : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32> loc(#loc0)
    %constant.118 = "stablehlo.constant"() <{value = dense<[0, 2, 1]> : tensor<3xi32>}> : () -> tensor<3xi32> loc(#loc0)
    %gather.119 = "stablehlo.gather"(%x.23, %constant.118) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>, indices_are_sorted = true}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32> loc(#loc0)
    %scatter.120 = "stablehlo.scatter"(%x.23, %constant.118, %gather.119) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %scatter.121 = "stablehlo.scatter"(%x.23, %constant.118, %gather.119) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = true, unique_indices = true}> ({
    ^bb0(%lhs.20: tensor<f32> loc(#loc0), %rhs.21: tensor<f32> loc(#loc0)):
      "stablehlo.return"(%rhs.21) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %iota.122 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x2x1xi32> loc(#loc0)
    %gather.123 = "stablehlo.gather"(%x.23, %iota.122) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4x8xf32>, tensor<4x2x1xi32>) -> tensor<4x2xf32> loc(#loc0)
    %scatter.124 = "stablehlo.scatter"(%x.23, %iota.122, %gather.123) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<4x2x1xi32>, tensor<4x2xf32>) -> tensor<4x8xf32> loc(#loc0)
    %all-reduce.125 = "stablehlo.all_reduce"(%x.23) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %all-gather.126 = "stablehlo.all_gather"(%x.23) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32> loc(#loc0)
    %reduce-scatter.127 = "stablehlo.reduce_scatter"(%x.23) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>) -> tensor<2x8xf32> loc(#loc0)
    %all-to-all.128 = "stablehlo.all_to_all"(%x.23) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %collective-permute.129 = "stablehlo.collective_permute"(%x.23) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %replica-id.130 = "stablehlo.replica_id"() : () -> tensor<ui32> loc(#loc0)
    %constant.131 = "stablehlo.constant"() <{value = dense<[[false, true], [true, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1> loc(#loc0)
    %constant.132 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi8>}> : () -> tensor<2x2xi8> loc(#loc0)
    %constant.133 = "stablehlo.constant"() <{value = dense<1> : tensor<i8>}> : () -> tensor<i8> loc(#loc0)
    %constant.134 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui8>}> : () -> tensor<2x2xui8> loc(#loc0)
    %constant.135 = "stablehlo.constant"() <{value = dense<1> : tensor<ui8>}> : () -> tensor<ui8> loc(#loc0)
    %constant.136 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi16>}> : () -> tensor<2x2xi16> loc(#loc0)
    %constant.137 = "stablehlo.constant"() <{value = dense<1> : tensor<i16>}> : () -> tensor<i16> loc(#loc0)
    %constant.138 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui16>}> : () -> tensor<2x2xui16> loc(#loc0)
    %constant.139 = "stablehlo.constant"() <{value = dense<1> : tensor<ui16>}> : () -> tensor<ui16> loc(#loc0)
    %constant.140 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32> loc(#loc0)
    %constant.141 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui32>}> : () -> tensor<2x2xui32> loc(#loc0)
    %constant.142 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32> loc(#loc0)
    %constant.143 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64> loc(#loc0)
    %constant.144 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64> loc(#loc0)
    %constant.145 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui64>}> : () -> tensor<2x2xui64> loc(#loc0)
    %constant.146 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64> loc(#loc0)
    %constant.147 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xbf16>}> : () -> tensor<2x2xbf16> loc(#loc0)
    %constant.148 = "stablehlo.constant"() <{value = dense<1.0> : tensor<bf16>}> : () -> tensor<bf16> loc(#loc0)
    %constant.149 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf16>}> : () -> tensor<2x2xf16> loc(#loc0)
    %constant.150 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f16>}> : () -> tensor<f16> loc(#loc0)
    %constant.151 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32> loc(#loc0)
    %constant.152 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf64>}> : () -> tensor<2x2xf64> loc(#loc0)
    %constant.153 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f64>}> : () -> tensor<f64> loc(#loc0)
    %constant.154 = "stablehlo.constant"() <{value = dense<[0.100097656, -1.001358e-5, 0.33398438, 9999221000.0, 0x7F80, 0xFF80, 0x7FC0, -0.0, 9.984021e-31, 65536.0]> : tensor<10xbf16>}> : () -> tensor<10xbf16> loc(#loc0)
    %constant.155 = "stablehlo.constant"() <{value = dense<[0.099975586, -1.001358e-5, 0.33325195, 0x7C00, 0x7C00, 0xFC00, 0x7E00, -0.0, 0.0, 65504.0]> : tensor<10xf16>}> : () -> tensor<10xf16> loc(#loc0)
    %constant.156 = "stablehlo.constant"() <{value = dense<[0.1, -1.0e-5, 0.33333334, 10000000000.0, 0x7F800000, 0xFF800000, 0x7FC00000, -0.0, 1.0e-30, 65504.0]> : tensor<10xf32>}> : () -> tensor<10xf32> loc(#loc0)
    %constant.157 = "stablehlo.constant"() <{value = dense<[0.1, -1.0e-5, 0.3333333333333333, 10000000000.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, -0.0, 1.0e-30, 65504.0]> : tensor<10xf64>}> : () -> tensor<10xf64> loc(#loc0)
    %constant.158 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>}> : () -> tensor<2xi64> loc(#loc0)
    %constant.159 = "stablehlo.constant"() <{value = dense<[[[0, 1, 2], [3, 4, 5]]]> : tensor<1x2x3xi32>}> : () -> tensor<1x2x3xi32> loc(#loc0)
    %constant.160 = "stablehlo.constant"() <{value = dense<> : tensor<0xi32>}> : () -> tensor<0xi32> loc(#loc0)
    %constant.161 = "stablehlo.constant"() <{value = dense<> : tensor<2x0xi32>}> : () -> tensor<2x0xi32> loc(#loc0)
    %constant.162 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>}> : () -> tensor<3x4xi32> loc(#loc0)
    %opt-barrier.163 = "stablehlo.optimization_barrier"(%x.23) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %opt-barrier.165:2 = "stablehlo.optimization_barrier"(%x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc(#loc0)
    %call.168 = "func.call"(%x.23) <{callee = @twice}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %rng-bit-generator.169:2 = "stablehlo.rng_bit_generator"(%state.26) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>) loc(#loc0)
    %rng-bit-generator.171:2 = "stablehlo.rng_bit_generator"(%state.26) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>) loc(#loc0)
    %custom-call.173 = "stablehlo.custom_call"(%x.23) <{call_target_name = "AwsNeuronSilu", backend_config = "1", api_version = 2 : i32}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %custom-call.174:2 = "stablehlo.custom_call"(%x.23, %layers.0.ints.24) <{call_target_name = "Pair", has_side_effect = true, api_version = 2 : i32}> : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc(#loc0)
    "func.return"(%abs.27, %cbrt.28, %ceil.29, %cosine.30, %count-leading-zeros.31, %erf.32, %exponential.33, %exponential-minus-one.34, %floor.35, %is-finite.36, %log.37, %log-plus-one.38, %logistic.39, %negate.40, %not.41, %popcnt.42, %round-nearest-afz.43, %round-nearest-even.44, %rsqrt.45, %sign.46, %sine.47, %sqrt.48, %tan.49, %tanh.50, %add.51, %and.52, %atan2.53, %divide.54, %maximum.55, %minimum.56, %multiply.57, %or.58, %power.59, %remainder.60, %shift-left.61, %shift-right-arithmetic.62, %shift-right-logical.63, %subtract.64, %xor.65, %compare.66, %compare.67, %compare.68, %compare.69, %compare.70, %compare.71, %compare.72, %compare.73, %select.74, %clamp.75, %convert.76, %convert.77, %convert.78, %convert.79, %convert.80, %convert.81, %convert.82, %convert.83, %convert.84, %convert.85, %convert.86, %convert.87, %convert.88, %bitcast-convert.89, %bitcast-convert.90, %x.23, %broadcast.94, %broadcast.95, %reshape.96, %transpose.97, %reverse.98, %slice.99, %slice.100, %pad.101, %pad.102, %concatenate.103, %reduce.105, %reduce.106, %reduce.107, %reduce.109, %reduce.110, %reduce.111, %dot.112, %dot.114, %dynamic-slice.116, %dynamic-update-slice.117, %gather.119, %scatter.120, %scatter.121, %gather.123, %scatter.124, %all-reduce.125, %all-gather.126, %reduce-scatter.127, %all-to-all.128, %collective-permute.129, %replica-id.130, %constant.131, %constant.108, %constant.132, %constant.133, %constant.134, %constant.135, %constant.136, %constant.137, %constant.138, %constant.139, %constant.140, %constant.115, %constant.141, %constant.142, %constant.143, %constant.144, %constant.145, %constant.146, %constant.147, %constant.148, %constant.149, %constant.150, %constant.151, %constant.104, %constant.152, %constant.153, %constant.154, %constant.155, %constant.156, %constant.157, %constant.158, %constant.159, %constant.160, %constant.161, %constant.162, %opt-barrier.163, %opt-barrier.165#0, %opt-barrier.165#1, %call.168, %rng-bit-generator.169#1, %rng-bit-generator.171#0, %custom-call.173, %custom-call.174#0, %layers.0.ints.24, %x.23, %x.23) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xi8>, tensor<4x8xui8>, tensor<4x8xi16>, tensor<4x8xui16>, tensor<4x8xi32>, tensor<4x8xui32>, tensor<4x8xi64>, tensor<4x8xui64>, tensor<4x8xbf16>, tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf64>, tensor<4x8xi32>, tensor<4x8x2xui16>, tensor<4x8xf32>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<2x16xf32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x31xf32>, tensor<7x8xf32>, tensor<4x24xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>, tensor<8xi1>, tensor<8xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<3x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<2x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<ui32>, tensor<2x2xi1>, tensor<i1>, tensor<2x2xi8>, tensor<i8>, tensor<2x2xui8>, tensor<ui8>, tensor<2x2xi16>, tensor<i16>, tensor<2x2xui16>, tensor<ui16>, tensor<2x2xi32>, tensor<i32>, tensor<2x2xui32>, tensor<ui32>, tensor<2x2xi64>, tensor<i64>, tensor<2x2xui64>, tensor<ui64>, tensor<2x2xbf16>, tensor<bf16>, tensor<2x2xf16>, tensor<f16>, tensor<2x2xf32>, tensor<f32>, tensor<2x2xf64>, tensor<f64>, tensor<10xbf16>, tensor<10xf16>, tensor<10xf32>, tensor<10xf64>, tensor<2xi64>, tensor<1x2x3xi32>, tensor<0xi32>, tensor<2x0xi32>, tensor<3x4xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<5xui32>, tensor<2xui64>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>) -> () loc(#loc0)
  } loc(#loc0)
} loc(#loc0)
#loc0 = loc(unknown)
#loc1 = loc("x")
#loc2 = loc("layers.0.ints")
#loc3 = loc("0flags")
#loc4 = loc("state")
#loc5 = loc("model/\22layers\22/0"("models/llama.hal":17:0))
