readonly options='--nodes --node-rank --root'
read_options "$@"
((${#program[@]} > 0)) || refuse 'no program to run; see --help'
check_place 65533
check_environment

local_size=$((world_size / nodes))
devices=$local_size
for ((i = 1; i < nodes; i++)); do
    devices+=,$local_size
done
cores=0
((local_size == 1)) || cores=0-$((local_size - 1))
unset NEURON_RT_NUM_CORES JAX_COORDINATOR_ADDRESS
export NEURON_RT_VISIBLE_CORES=$cores
export NEURON_RT_ROOT_COMM_ID=$root
export NEURON_PJRT_PROCESS_INDEX=$node_rank
export NEURON_PJRT_PROCESSES_NUM_DEVICES=$devices
if ((nodes > 1)); then
    # The runtime takes the port of the root and the next one.
    export JAX_COORDINATOR_ADDRESS=${root%:*}:$((${root##*:} + 2))
fi
export_environment
exec "${program[@]}"
