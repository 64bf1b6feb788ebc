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
                     127.0.0.1:48620]
  --grace SECONDS    time to end in before a process is killed [default: 10]

PROGRAM sees RANK, LOCAL_RANK, WORLD_SIZE, NEURON_RT_VISIBLE_CORES, NEURON_RT_ROOT_COMM_ID, and between several
processes NEURON_PJRT_PROCESS_INDEX and NEURON_PJRT_PROCESSES_NUM_DEVICES, beside the environment of the bundle.
END
}

say() {
    printf 'launch: %s\n' "$*" >&2
}

refuse() {
    say "$@"
    exit 2
}

# Takes a whole number of at most six digits, from a least one.
number() {
    local name=$1 text=$2 least=$3
    [[ $text =~ ^(0|[1-9][0-9]{0,5})$ ]] && ((text >= least)) || refuse "$name is not a whole number from $least: '$text'"
}

nodes=1
node_rank=0
root=
grace=10
while (($# > 0)); do
    case $1 in
    --nodes | --node-rank | --root | --grace)
        (($# > 1)) || refuse "$1 has no value"
        case $1 in
        --nodes) nodes=$2 ;;
        --node-rank) node_rank=$2 ;;
        --root) root=$2 ;;
        --grace) grace=$2 ;;
        esac
        shift 2
        ;;
    --help)
        usage
        exit 0
        ;;
    --)
        shift
        break
        ;;
    -*) refuse "there is no option $1; see --help" ;;
    *) break ;;
    esac
done
if (($# == 0)) || [[ $1 == -* ]]; then
    ((${#trains[@]} > 0)) || refuse 'no program to run, and the script is not of a bundle; see --help'
    set -- "${trains[@]}" "$@"
fi
number --nodes "$nodes" 1
number --node-rank "$node_rank" 0
number --grace "$grace" 0
((node_rank < nodes)) || refuse "--node-rank is $node_rank, of $nodes nodes from 0"
((world_size % nodes == 0)) || refuse "$world_size ranks cannot be divided among $nodes nodes"
if [[ -z $root ]]; then
    ((nodes == 1)) || refuse 'several nodes need --root HOST:PORT'
    root=127.0.0.1:48620
fi
[[ $root =~ ^[^[:space:]]+:[1-9][0-9]{0,4}$ ]] && ((${root##*:} < 65535)) ||
    refuse "--root is not HOST:PORT with a port from 1 to 65534: '$root'"

refused=0
for ((i = 0; i < ${#forbidden[@]}; i += 2)); do
    name=${forbidden[i]}
    if [[ -n ${!name+set} ]]; then
        say "$name is set, and must not be; it is replaced by ${forbidden[i + 1]}"
        refused=1
    fi
done
((refused == 0)) || exit 2

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
    export NEURON_RT_ROOT_COMM_ID=$root
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
