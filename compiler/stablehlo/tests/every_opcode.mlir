module @every_opcode attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func private @twice(
      %x.0: tensor<4x8xf32> loc(#loc1)) -> (tensor<4x8xf32>) {
    %add.1 = "stablehlo.add"(%x.0, %x.0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    "func.return"(%add.1) : (tensor<4x8xf32>) -> () loc(#loc0)
  } loc(#loc0)
  func.func public @main(
      %x.20: tensor<4x8xf32> {tf.aliasing_output = 0 : i32, mhlo.frontend_attributes = {"neff_input_names" = "input0000"}} loc(#loc1),
      %layers.0.ints.21: tensor<4x8xi32> {tf.aliasing_output = 138 : i32} loc(#loc2),
      %_0flags.22: tensor<4x8xi1> loc(#loc3),
      %state.23: tensor<2xui64> loc(#loc4)) -> (
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
    %abs.24 = "stablehlo.abs"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %cbrt.25 = "stablehlo.cbrt"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %ceil.26 = "stablehlo.ceil"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %cosine.27 = "stablehlo.cosine"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %count-leading-zeros.28 = "stablehlo.count_leading_zeros"(%layers.0.ints.21) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %erf.29 = "chlo.erf"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %exponential.30 = "stablehlo.exponential"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %exponential-minus-one.31 = "stablehlo.exponential_minus_one"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %floor.32 = "stablehlo.floor"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %is-finite.33 = "stablehlo.is_finite"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %log.34 = "stablehlo.log"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %log-plus-one.35 = "stablehlo.log_plus_one"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %logistic.36 = "stablehlo.logistic"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %negate.37 = "stablehlo.negate"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %not.38 = "stablehlo.not"(%layers.0.ints.21) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %popcnt.39 = "stablehlo.popcnt"(%layers.0.ints.21) : (tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %round-nearest-afz.40 = "stablehlo.round_nearest_afz"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %round-nearest-even.41 = "stablehlo.round_nearest_even"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %rsqrt.42 = "stablehlo.rsqrt"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sign.43 = "stablehlo.sign"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sine.44 = "stablehlo.sine"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %sqrt.45 = "stablehlo.sqrt"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %tan.46 = "stablehlo.tan"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %tanh.47 = "stablehlo.tanh"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %add.48 = "stablehlo.add"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %and.49 = "stablehlo.and"(%layers.0.ints.21, %layers.0.ints.21) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %atan2.50 = "stablehlo.atan2"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %divide.51 = "stablehlo.divide"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %maximum.52 = "stablehlo.maximum"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %minimum.53 = "stablehlo.minimum"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %multiply.54 = "stablehlo.multiply"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %or.55 = "stablehlo.or"(%layers.0.ints.21, %layers.0.ints.21) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %power.56 = "stablehlo.power"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %remainder.57 = "stablehlo.remainder"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %shift-left.58 = "stablehlo.shift_left"(%layers.0.ints.21, %layers.0.ints.21) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %shift-right-arithmetic.59 = "stablehlo.shift_right_arithmetic"(%layers.0.ints.21, %layers.0.ints.21) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %shift-right-logical.60 = "stablehlo.shift_right_logical"(%layers.0.ints.21, %layers.0.ints.21) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %subtract.61 = "stablehlo.subtract"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %xor.62 = "stablehlo.xor"(%layers.0.ints.21, %layers.0.ints.21) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32> loc(#loc0)
    %compare.63 = "stablehlo.compare"(%x.20, %x.20) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.64 = "stablehlo.compare"(%x.20, %x.20) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.65 = "stablehlo.compare"(%x.20, %x.20) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.66 = "stablehlo.compare"(%x.20, %x.20) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.67 = "stablehlo.compare"(%x.20, %x.20) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.68 = "stablehlo.compare"(%x.20, %x.20) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.69 = "stablehlo.compare"(%layers.0.ints.21, %layers.0.ints.21) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1> loc(#loc0)
    %compare.70 = "stablehlo.compare"(%_0flags.22, %_0flags.22) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1> loc(#loc0)
    %select.71 = "stablehlo.select"(%_0flags.22, %x.20, %x.20) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %clamp.72 = "stablehlo.clamp"(%x.20, %x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %convert.73 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xi1> loc(#loc0)
    %convert.74 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xi8> loc(#loc0)
    %convert.75 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xui8> loc(#loc0)
    %convert.76 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xi16> loc(#loc0)
    %convert.77 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xui16> loc(#loc0)
    %convert.78 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xi32> loc(#loc0)
    %convert.79 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xui32> loc(#loc0)
    %convert.80 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xi64> loc(#loc0)
    %convert.81 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xui64> loc(#loc0)
    %convert.82 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc(#loc0)
    %convert.83 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf16> loc(#loc0)
    %convert.84 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %convert.85 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf64> loc(#loc0)
    %bitcast-convert.86 = "stablehlo.bitcast_convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xi32> loc(#loc0)
    %bitcast-convert.87 = "stablehlo.bitcast_convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8x2xui16> loc(#loc0)
    %constant.89 = "stablehlo.constant"() <{value = dense<-1.5> : tensor<f32>}> : () -> tensor<f32> loc(#loc5)
    %iota.90 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf32> loc(#loc5)
    %broadcast.91 = "stablehlo.broadcast_in_dim"(%constant.89) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32> loc(#loc5)
    %broadcast.92 = "stablehlo.broadcast_in_dim"(%iota.90) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32> loc(#loc5)
    %reshape.93 = "stablehlo.reshape"(%x.20) : (tensor<4x8xf32>) -> tensor<2x16xf32> loc(#loc5)
    %transpose.94 = "stablehlo.transpose"(%x.20) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32> loc(#loc5)
    %reverse.95 = "stablehlo.reverse"(%x.20) <{dimensions = array<i64: 0, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc5)
    %slice.96 = "stablehlo.slice"(%x.20) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 3>}> : (tensor<4x8xf32>) -> tensor<4x3xf32> loc(#loc5)
    %slice.97 = "stablehlo.slice"(%x.20) <{start_indices = array<i64: 0, 2>, limit_indices = array<i64: 4, 4>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x2xf32> loc(#loc5)
    %pad.98 = "stablehlo.pad"(%x.20, %constant.89) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: -1, 2>, interior_padding = array<i64: 0, 3>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x31xf32> loc(#loc5)
    %pad.99 = "stablehlo.pad"(%x.20, %constant.89) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 2, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x8xf32> loc(#loc5)
    %concatenate.100 = "stablehlo.concatenate"(%x.20, %x.20, %x.20) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32> loc(#loc5)
    %constant.101 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32> loc(#loc0)
    %reduce.102 = "stablehlo.reduce"(%x.20, %constant.101) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.103 = "stablehlo.reduce"(%x.20, %constant.101) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.5: tensor<f32> loc(#loc0), %rhs.6: tensor<f32> loc(#loc0)):
      %maximum.7 = "stablehlo.maximum"(%lhs.5, %rhs.6) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%maximum.7) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %reduce.104 = "stablehlo.reduce"(%x.20, %constant.101) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.8: tensor<f32> loc(#loc0), %rhs.9: tensor<f32> loc(#loc0)):
      %minimum.10 = "stablehlo.minimum"(%lhs.8, %rhs.9) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%minimum.10) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#loc0)
    %constant.105 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1> loc(#loc0)
    %reduce.106 = "stablehlo.reduce"(%_0flags.22, %constant.105) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.11: tensor<i1> loc(#loc0), %rhs.12: tensor<i1> loc(#loc0)):
      %and.13 = "stablehlo.and"(%lhs.11, %rhs.12) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%and.13) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %reduce.107 = "stablehlo.reduce"(%_0flags.22, %constant.105) <{dimensions = array<i64: 0>}> ({
    ^bb0(%lhs.14: tensor<i1> loc(#loc0), %rhs.15: tensor<i1> loc(#loc0)):
      %or.16 = "stablehlo.or"(%lhs.14, %rhs.15) : (tensor<i1>, tensor<i1>) -> tensor<i1> loc(#loc0)
      "stablehlo.return"(%or.16) : (tensor<i1>) -> () loc(#loc0)
    }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1> loc(#loc0)
    %dot.108 = "stablehlo.dot_general"(%x.20, %x.20) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32> loc(#loc0)
    %convert.109 = "stablehlo.convert"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xbf16> loc(#loc0)
    %dot.110 = "stablehlo.dot_general"(%convert.109, %convert.109) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4xf32> loc(#loc0)
    %constant.111 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32> loc(#loc0)
    %dynamic-slice.112 = "stablehlo.dynamic_slice"(%x.20, %constant.111, %constant.111) <{slice_sizes = array<i64: 2, 3>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32> loc(#loc0)
    %dynamic-update-slice.113 = "stablehlo.dynamic_update_slice"(%x.20, %dynamic-slice.112, %constant.111, %constant.111) : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32> loc(#loc0)
    %constant.114 = "stablehlo.constant"() <{value = dense<[0, 2, 1]> : tensor<3xi32>}> : () -> tensor<3xi32> loc(#loc0)
    %gather.115 = "stablehlo.gather"(%x.20, %constant.114) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>, indices_are_sorted = true}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32> loc(#loc0)
    %scatter.116 = "stablehlo.scatter"(%x.20, %constant.114, %gather.115) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %scatter.117 = "stablehlo.scatter"(%x.20, %constant.114, %gather.115) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = true, unique_indices = true}> ({
    ^bb0(%lhs.17: tensor<f32> loc(#loc0), %rhs.18: tensor<f32> loc(#loc0)):
      "stablehlo.return"(%rhs.18) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<3xi32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %iota.118 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x2x1xi32> loc(#loc0)
    %gather.119 = "stablehlo.gather"(%x.20, %iota.118) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4x8xf32>, tensor<4x2x1xi32>) -> tensor<4x2xf32> loc(#loc0)
    %scatter.120 = "stablehlo.scatter"(%x.20, %iota.118, %gather.119) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>, tensor<4x2x1xi32>, tensor<4x2xf32>) -> tensor<4x8xf32> loc(#loc0)
    %all-reduce.121 = "stablehlo.all_reduce"(%x.20) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %all-gather.122 = "stablehlo.all_gather"(%x.20) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32> loc(#loc0)
    %reduce-scatter.123 = "stablehlo.reduce_scatter"(%x.20) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%lhs.2: tensor<f32> loc(#loc0), %rhs.3: tensor<f32> loc(#loc0)):
      %add.4 = "stablehlo.add"(%lhs.2, %rhs.3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.4) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4x8xf32>) -> tensor<2x8xf32> loc(#loc0)
    %all-to-all.124 = "stablehlo.all_to_all"(%x.20) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %collective-permute.125 = "stablehlo.collective_permute"(%x.20) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %replica-id.126 = "stablehlo.replica_id"() : () -> tensor<ui32> loc(#loc0)
    %constant.127 = "stablehlo.constant"() <{value = dense<[[false, true], [true, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1> loc(#loc0)
    %constant.128 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi8>}> : () -> tensor<2x2xi8> loc(#loc0)
    %constant.129 = "stablehlo.constant"() <{value = dense<1> : tensor<i8>}> : () -> tensor<i8> loc(#loc0)
    %constant.130 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui8>}> : () -> tensor<2x2xui8> loc(#loc0)
    %constant.131 = "stablehlo.constant"() <{value = dense<1> : tensor<ui8>}> : () -> tensor<ui8> loc(#loc0)
    %constant.132 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi16>}> : () -> tensor<2x2xi16> loc(#loc0)
    %constant.133 = "stablehlo.constant"() <{value = dense<1> : tensor<i16>}> : () -> tensor<i16> loc(#loc0)
    %constant.134 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui16>}> : () -> tensor<2x2xui16> loc(#loc0)
    %constant.135 = "stablehlo.constant"() <{value = dense<1> : tensor<ui16>}> : () -> tensor<ui16> loc(#loc0)
    %constant.136 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32> loc(#loc0)
    %constant.137 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui32>}> : () -> tensor<2x2xui32> loc(#loc0)
    %constant.138 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32> loc(#loc0)
    %constant.139 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64> loc(#loc0)
    %constant.140 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64> loc(#loc0)
    %constant.141 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xui64>}> : () -> tensor<2x2xui64> loc(#loc0)
    %constant.142 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64> loc(#loc0)
    %constant.143 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xbf16>}> : () -> tensor<2x2xbf16> loc(#loc0)
    %constant.144 = "stablehlo.constant"() <{value = dense<1.0> : tensor<bf16>}> : () -> tensor<bf16> loc(#loc0)
    %constant.145 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf16>}> : () -> tensor<2x2xf16> loc(#loc0)
    %constant.146 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f16>}> : () -> tensor<f16> loc(#loc0)
    %constant.147 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32> loc(#loc0)
    %constant.148 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf64>}> : () -> tensor<2x2xf64> loc(#loc0)
    %constant.149 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f64>}> : () -> tensor<f64> loc(#loc0)
    %constant.150 = "stablehlo.constant"() <{value = dense<[0.100097656, -1.001358e-5, 0.33398438, 9999221000.0, 0x7F80, 0xFF80, 0x7FC0, -0.0, 9.984021e-31, 65536.0]> : tensor<10xbf16>}> : () -> tensor<10xbf16> loc(#loc0)
    %constant.151 = "stablehlo.constant"() <{value = dense<[0.099975586, -1.001358e-5, 0.33325195, 0x7C00, 0x7C00, 0xFC00, 0x7E00, -0.0, 0.0, 65504.0]> : tensor<10xf16>}> : () -> tensor<10xf16> loc(#loc0)
    %constant.152 = "stablehlo.constant"() <{value = dense<[0.1, -1.0e-5, 0.33333334, 10000000000.0, 0x7F800000, 0xFF800000, 0x7FC00000, -0.0, 1.0e-30, 65504.0]> : tensor<10xf32>}> : () -> tensor<10xf32> loc(#loc0)
    %constant.153 = "stablehlo.constant"() <{value = dense<[0.1, -1.0e-5, 0.3333333333333333, 10000000000.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, -0.0, 1.0e-30, 65504.0]> : tensor<10xf64>}> : () -> tensor<10xf64> loc(#loc0)
    %constant.154 = "stablehlo.constant"() <{value = dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>}> : () -> tensor<2xi64> loc(#loc0)
    %constant.155 = "stablehlo.constant"() <{value = dense<[[[0, 1, 2], [3, 4, 5]]]> : tensor<1x2x3xi32>}> : () -> tensor<1x2x3xi32> loc(#loc0)
    %constant.156 = "stablehlo.constant"() <{value = dense<> : tensor<0xi32>}> : () -> tensor<0xi32> loc(#loc0)
    %constant.157 = "stablehlo.constant"() <{value = dense<> : tensor<2x0xi32>}> : () -> tensor<2x0xi32> loc(#loc0)
    %constant.158 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>}> : () -> tensor<3x4xi32> loc(#loc0)
    %opt-barrier.159 = "stablehlo.optimization_barrier"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %opt-barrier.161:2 = "stablehlo.optimization_barrier"(%x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc(#loc0)
    %call.164 = "func.call"(%x.20) <{callee = @twice}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %rng-bit-generator.165:2 = "stablehlo.rng_bit_generator"(%state.23) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>) loc(#loc0)
    %rng-bit-generator.167:2 = "stablehlo.rng_bit_generator"(%state.23) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>) loc(#loc0)
    %custom-call.169 = "stablehlo.custom_call"(%x.20) <{call_target_name = "AwsNeuronSilu", backend_config = "1", api_version = 2 : i32}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc(#loc0)
    %custom-call.170:2 = "stablehlo.custom_call"(%x.20, %layers.0.ints.21) <{call_target_name = "Pair", has_side_effect = true, api_version = 2 : i32}> : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc(#loc0)
    "func.return"(%abs.24, %cbrt.25, %ceil.26, %cosine.27, %count-leading-zeros.28, %erf.29, %exponential.30, %exponential-minus-one.31, %floor.32, %is-finite.33, %log.34, %log-plus-one.35, %logistic.36, %negate.37, %not.38, %popcnt.39, %round-nearest-afz.40, %round-nearest-even.41, %rsqrt.42, %sign.43, %sine.44, %sqrt.45, %tan.46, %tanh.47, %add.48, %and.49, %atan2.50, %divide.51, %maximum.52, %minimum.53, %multiply.54, %or.55, %power.56, %remainder.57, %shift-left.58, %shift-right-arithmetic.59, %shift-right-logical.60, %subtract.61, %xor.62, %compare.63, %compare.64, %compare.65, %compare.66, %compare.67, %compare.68, %compare.69, %compare.70, %select.71, %clamp.72, %convert.73, %convert.74, %convert.75, %convert.76, %convert.77, %convert.78, %convert.79, %convert.80, %convert.81, %convert.82, %convert.83, %convert.84, %convert.85, %bitcast-convert.86, %bitcast-convert.87, %x.20, %broadcast.91, %broadcast.92, %reshape.93, %transpose.94, %reverse.95, %slice.96, %slice.97, %pad.98, %pad.99, %concatenate.100, %reduce.102, %reduce.103, %reduce.104, %reduce.106, %reduce.107, %dot.108, %dot.110, %dynamic-slice.112, %dynamic-update-slice.113, %gather.115, %scatter.116, %scatter.117, %gather.119, %scatter.120, %all-reduce.121, %all-gather.122, %reduce-scatter.123, %all-to-all.124, %collective-permute.125, %replica-id.126, %constant.127, %constant.105, %constant.128, %constant.129, %constant.130, %constant.131, %constant.132, %constant.133, %constant.134, %constant.135, %constant.136, %constant.111, %constant.137, %constant.138, %constant.139, %constant.140, %constant.141, %constant.142, %constant.143, %constant.144, %constant.145, %constant.146, %constant.147, %constant.101, %constant.148, %constant.149, %constant.150, %constant.151, %constant.152, %constant.153, %constant.154, %constant.155, %constant.156, %constant.157, %constant.158, %opt-barrier.159, %opt-barrier.161#0, %opt-barrier.161#1, %call.164, %rng-bit-generator.165#1, %rng-bit-generator.167#0, %custom-call.169, %custom-call.170#0, %layers.0.ints.21, %x.20, %x.20) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xi8>, tensor<4x8xui8>, tensor<4x8xi16>, tensor<4x8xui16>, tensor<4x8xi32>, tensor<4x8xui32>, tensor<4x8xi64>, tensor<4x8xui64>, tensor<4x8xbf16>, tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf64>, tensor<4x8xi32>, tensor<4x8x2xui16>, tensor<4x8xf32>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<2x16xf32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<4x31xf32>, tensor<7x8xf32>, tensor<4x24xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>, tensor<8xi1>, tensor<4x4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<4x8xf32>, tensor<3x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<2x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<ui32>, tensor<2x2xi1>, tensor<i1>, tensor<2x2xi8>, tensor<i8>, tensor<2x2xui8>, tensor<ui8>, tensor<2x2xi16>, tensor<i16>, tensor<2x2xui16>, tensor<ui16>, tensor<2x2xi32>, tensor<i32>, tensor<2x2xui32>, tensor<ui32>, tensor<2x2xi64>, tensor<i64>, tensor<2x2xui64>, tensor<ui64>, tensor<2x2xbf16>, tensor<bf16>, tensor<2x2xf16>, tensor<f16>, tensor<2x2xf32>, tensor<f32>, tensor<2x2xf64>, tensor<f64>, tensor<10xbf16>, tensor<10xf16>, tensor<10xf32>, tensor<10xf64>, tensor<2xi64>, tensor<1x2x3xi32>, tensor<0xi32>, tensor<2x0xi32>, tensor<3x4xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<5xui32>, tensor<2xui64>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>) -> () loc(#loc0)
  } loc(#loc0)
} loc(#loc0)
#loc0 = loc(unknown)
#loc1 = loc("x")
#loc2 = loc("layers.0.ints")
#loc3 = loc("0flags")
#loc4 = loc("state")
#loc5 = loc("model/\22layers\22/0"("models/llama.hal":17:0))
