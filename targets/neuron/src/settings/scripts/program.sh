readonly options='--nodes --node-rank --root --grace'

# Fills `roots`, by stage.
place_stages() {
    local stage=1
    if ((${#roots[@]} > 1)); then
        ((${#roots[@]} == stages)) || refuse "--root has ${#roots[@]} addresses of $stages stages"
        for ((; stage < stages; stage++)); do
            [[ ${roots[stage]} =~ ^[^[:space:]]+:[1-9][0-9]{0,4}$ ]] && ((${roots[stage]##*:} <= 65534)) ||
                refuse "--root is not HOST:PORT with a port from 1 to 65534: '${roots[stage]}'"
        done
        return
    fi
    ((world_size / stages * (stages - 1) < world_size / nodes)) ||
        refuse "stages begin on several nodes: --root needs an address for each of $stages, on the node of its first rank"
    roots=("$root")
    for ((; stage < stages; stage++)); do
        roots[stage]=${root%:*}:$((${root##*:} + 2 * stage))
    done
}

read_options "$@"
set -- "${program[@]+"${program[@]}"}"
if (($# == 0)) || [[ $1 == -* ]]; then
    ((${#trains[@]} > 0)) || refuse 'no program to run, and the script is not of a bundle; see --help'
    set -- "${trains[@]}" "$@"
fi
# Of several stages each has a root of its own: those that are given, or ports that follow the first.
IFS=, read -ra roots <<<"$root"
root=${roots[0]-}
check_place $((65534 - 2 * (stages - 1)))
place_stages
check_environment

# What tells the processes of this launch from those of another. On several nodes only who starts all of them can say it.
if [[ -z ${HALITE_LAUNCH-} ]]; then
    if ((nodes == 1)); then
        export HALITE_LAUNCH=$(date +%s)-$$-$RANDOM
    elif [[ -z ${SLURM_JOB_ID-}${TORCHELASTIC_RUN_ID-} ]]; then
        say 'HALITE_LAUNCH is not set: without one word for all nodes, another for each launch, a process that is left of an earlier launch passes for one of this'
    fi
fi

local_size=$((world_size / nodes))
devices=1
for ((i = 1; i < world_size; i++)); do
    devices+=,1
done

# Becomes the program of one rank.
become() {
    local local_rank=$1
    shift
    export LOCAL_RANK=$local_rank
    export RANK=$((node_rank * local_size + local_rank))
    export WORLD_SIZE=$world_size
    export NEURON_RT_VISIBLE_CORES=$local_rank
    export NEURON_RT_ROOT_COMM_ID=${roots[RANK * stages / world_size]}
    export HALITE_ROOT=$root
    export HALITE_STAGES=$stages
    unset NEURON_RT_NUM_CORES NEURON_PJRT_PROCESS_INDEX NEURON_PJRT_PROCESSES_NUM_DEVICES
    if ((world_size > 1)); then
        export NEURON_PJRT_PROCESS_INDEX=$RANK
        export NEURON_PJRT_PROCESSES_NUM_DEVICES=$devices
    fi
    export_environment
    exec "$@"
}

# Processes that have not ended well, by local rank. Each leads a group, so that what it starts ends with it.
pids=()

signal_all() {
    local pid
    for pid in "${pids[@]}"; do
        kill -s "$1" -- "-$pid" 2>/dev/null || :
    done
}

# Ends what still runs, then the script.
end() {
    local code=$1 tenth
    trap '' HUP INT TERM
    signal_all TERM
    for ((tenth = 0; tenth < 10 * grace; tenth++)); do
        runs || break
        sleep 0.1
    done
    signal_all KILL
    exit "$code"
}

# Whether any process of any group is left.
runs() {
    local pid
    for pid in "${pids[@]}"; do
        if kill -s 0 -- "-$pid" 2>/dev/null; then
            return 0
        fi
    done
    return 1
}

trap 'end 129' HUP
trap 'end 130' INT
trap 'end 143' TERM
set -m
for ((i = 0; i < local_size; i++)); do
    become "$i" "$@" </dev/null &
    pids[i]=$!
done
# The groups are made; without this, bash tells of every job that is ended.
set +m

while ((${#pids[@]} > 0)); do
    for i in "${!pids[@]}"; do
        if kill -s 0 "${pids[i]}" 2>/dev/null; then
            continue
        fi
        code=0
        wait "${pids[i]}" || code=$?
        if ((code != 0)); then
            say "rank $((node_rank * local_size + i)) ended with exit code $code; the others are ended"
            end "$code"
        fi
        unset "pids[i]"
    done
    sleep 0.1
done
