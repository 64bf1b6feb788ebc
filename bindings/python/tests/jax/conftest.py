"""Eight devices on the CPU, code that XLA makes fast, types of 64 bits."""

import os

FLAGS = (
    "--xla_force_host_platform_device_count=8",
    # Most time of the tests would go into making fast code for programs that run a few times.
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_parallel_codegen_split_count=1",
)
os.environ["XLA_FLAGS"] = " ".join(FLAGS)

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
