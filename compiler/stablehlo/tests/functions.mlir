module @collectives attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func private @step_block(
      %x.3: tensor<8xf32> loc(#loc1)) -> (tensor<8xf32>) {
    %all-reduce.4 = "stablehlo.all_reduce"(%x.3) <{replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> ({
    ^bb0(%lhs.0: tensor<f32> loc(#loc0), %rhs.1: tensor<f32> loc(#loc0)):
      %add.2 = "stablehlo.add"(%lhs.0, %rhs.1) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.2) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<8xf32>) -> tensor<8xf32> loc(#loc0)
    %add.5 = "stablehlo.add"(%all-reduce.4, %x.3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc(#loc0)
    "func.return"(%add.5) : (tensor<8xf32>) -> () loc(#loc0)
  } loc(#loc0)
  func.func private @step(
      %x.9: tensor<8xf32> loc(#loc1),
      %y.10: tensor<4xf32> loc(#loc2)) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>, tensor<8xf32>, tensor<2xf32>, tensor<1xf32>, tensor<8xf32>, tensor<8xf32>, tensor<ui32>) {
    %call.11 = "func.call"(%x.9) <{callee = @step_block}> : (tensor<8xf32>) -> tensor<8xf32> loc(#loc0)
    %call.12 = "func.call"(%call.11) <{callee = @step_block}> : (tensor<8xf32>) -> tensor<8xf32> loc(#loc0)
    %all-reduce.13_0 = "stablehlo.all_reduce"(%x.9) <{replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>}> ({
    ^bb0(%lhs.0: tensor<f32> loc(#loc0), %rhs.1: tensor<f32> loc(#loc0)):
      %add.2 = "stablehlo.add"(%lhs.0, %rhs.1) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.2) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<8xf32>) -> tensor<8xf32> loc(#loc0)
    %all-reduce.13_1 = "stablehlo.all_reduce"(%y.10) <{replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> ({
    ^bb0(%lhs.0: tensor<f32> loc(#loc0), %rhs.1: tensor<f32> loc(#loc0)):
      %add.2 = "stablehlo.add"(%lhs.0, %rhs.1) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.2) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc0)
    %all-reduce.16 = "stablehlo.all_reduce"(%y.10) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>}> ({
    ^bb0(%lhs.6: tensor<f32> loc(#loc0), %rhs.7: tensor<f32> loc(#loc0)):
      %maximum.8 = "stablehlo.maximum"(%lhs.6, %rhs.7) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%maximum.8) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc0)
    %all-gather.17_0 = "stablehlo.all_gather"(%x.9) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>}> : (tensor<8xf32>) -> tensor<16xf32> loc(#loc0)
    %all-gather.17_1 = "stablehlo.all_gather"(%y.10) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 8, type = 1>}> : (tensor<4xf32>) -> tensor<8xf32> loc(#loc0)
    %reduce-scatter.20_0 = "stablehlo.reduce_scatter"(%x.9) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 9, type = 1>}> ({
    ^bb0(%lhs.0: tensor<f32> loc(#loc0), %rhs.1: tensor<f32> loc(#loc0)):
      %add.2 = "stablehlo.add"(%lhs.0, %rhs.1) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.2) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<8xf32>) -> tensor<2xf32> loc(#loc0)
    %reduce-scatter.20_1 = "stablehlo.reduce_scatter"(%y.10) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 10, type = 1>}> ({
    ^bb0(%lhs.0: tensor<f32> loc(#loc0), %rhs.1: tensor<f32> loc(#loc0)):
      %add.2 = "stablehlo.add"(%lhs.0, %rhs.1) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc(#loc0)
      "stablehlo.return"(%add.2) : (tensor<f32>) -> () loc(#loc0)
    }) : (tensor<4xf32>) -> tensor<1xf32> loc(#loc0)
    %all-to-all.23 = "stablehlo.all_to_all"(%x.9) <{channel_handle = #stablehlo.channel_handle<handle = 11, type = 1>, split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>}> : (tensor<8xf32>) -> tensor<8xf32> loc(#loc0)
    %collective-permute.24 = "stablehlo.collective_permute"(%x.9) <{source_target_pairs = dense<[[0, 2], [2, 4], [4, 6], [6, 0], [1, 3]]> : tensor<5x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 12, type = 1>}> : (tensor<8xf32>) -> tensor<8xf32> loc(#loc0)
    %replica-id.25 = "stablehlo.partition_id"() : () -> tensor<ui32> loc(#loc0)
    "func.return"(%call.12, %all-reduce.13_0, %all-reduce.13_1, %all-reduce.16, %all-gather.17_0, %all-gather.17_1, %reduce-scatter.20_0, %reduce-scatter.20_1, %all-to-all.23, %collective-permute.24, %replica-id.25) : (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>, tensor<8xf32>, tensor<2xf32>, tensor<1xf32>, tensor<8xf32>, tensor<8xf32>, tensor<ui32>) -> () loc(#loc0)
  } loc(#loc0)
} loc(#loc0)
#loc0 = loc(unknown)
#loc1 = loc("x")
#loc2 = loc("y")
