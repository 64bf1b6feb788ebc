usage() {
    local default='none, since the script is not of a bundle'
    ((${#trains[@]} == 0)) || default=${trains[*]}
    cat <<END
usage: bash launch.sh [OPTIONS] [--] [PROGRAM] [ARGUMENT..]

Starts PROGRAM once for each of its ranks on this node ($world_size on all nodes), waits, and ends with 0 when all have.
When one fails, the others are ended, and its exit code is the script's.

Where no PROGRAM is named, or an option stands in its place, it is: $default

  --nodes N          nodes that take part [default: 1]
  --node-rank K      the number of this node, from 0 [default: 0]
  --root HOST:PORT   a free port of node 0, the next one free too; the same on all nodes [default, for one node:
                     127.0.0.1:48620]; of $stages stages each takes two ports, and where they begin on several nodes
                     there is one address for each, with commas between
  --grace SECONDS    time to end in before a process is killed [default: 10]

PROGRAM sees RANK, LOCAL_RANK, WORLD_SIZE, NEURON_RT_VISIBLE_CORES, NEURON_RT_ROOT_COMM_ID, which is the address of its
stage, HALITE_ROOT, which is that of the first, HALITE_STAGES, which is how many there are, and between several
processes NEURON_PJRT_PROCESS_INDEX and NEURON_PJRT_PROCESSES_NUM_DEVICES, beside the environment of the bundle.
HALITE_LAUNCH tells the processes of a launch from those of another: on one node it is made here, on several give all nodes
the same word, another for each launch.
END
}

