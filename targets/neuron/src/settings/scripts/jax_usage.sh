usage() {
    cat <<END
usage: bash launch.sh [OPTIONS] [--] PROGRAM [ARGUMENT..]

Becomes PROGRAM, one process with all ranks of this node ($world_size on all nodes) as its devices.

  --nodes N          nodes that take part [default: 1]
  --node-rank K      the number of this node, from 0 [default: 0]
  --root HOST:PORT   a free port of node 0, the next two free too; the same on all nodes [default, for one node:
                     127.0.0.1:48620]

PROGRAM sees NEURON_CC_FLAGS, NEURON_RT_VISIBLE_CORES, NEURON_RT_ROOT_COMM_ID, NEURON_PJRT_PROCESS_INDEX,
NEURON_PJRT_PROCESSES_NUM_DEVICES and, of several nodes, JAX_COORDINATOR_ADDRESS, beside the environment of the bundle.
On several nodes it begins with jax.distributed.initialize(num_processes=N, process_id=K), where K is
int(os.environ["NEURON_PJRT_PROCESS_INDEX"]).
END
}

