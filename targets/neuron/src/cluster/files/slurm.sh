say() {
    printf 'slurm: %s\n' "$*" >&2
}

# The nodes in the order of their ranks. The ranks of a stage meet on the node of the first of them, at the address by which Slurm
# reaches it; stages and jobs that share a node have ports of their own.
mapfile -t names < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
((${#names[@]} == nodes)) || {
    say "the job has ${#names[@]} nodes, and the files are for $nodes: write them anew with --nodes ${#names[@]}"
    exit 2
}
root=
for ((stage = 0; stage < stages; stage++)); do
    name=${names[nodes * stage / stages]}
    address=$(scontrol --oneliner show node "$name" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p')
    root+=,${address:-$name}:$((12000 + (SLURM_JOB_ID % (4000 / stages) * stages + stage) * 2))
done
readonly root=${root#,}

# Processes of this start of the job know one another by it.
export HALITE_LAUNCH=$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}

say "start ${SLURM_RESTART_COUNT:-0} of job $SLURM_JOB_ID, processes meet at $root"
for ((i = 0; i < nodes; i++)); do
    first=$((i * local_size)) last=$((i * local_size + local_size - 1)) of=
    ((stages == 1)) || of=" of stages $((first * stages / (nodes * local_size))) to $((last * stages / (nodes * local_size)))"
    say "node $i is ${names[i]}, ranks $first to $last$of"
done

# SIGTERM comes when time is nearly up or the nodes are wanted: the state is saved, and the job goes on later. After SIGINT
# (`scancel --batch --signal=INT JOB`) the state is saved, and the job is over. Slurm passes the signal on to the processes of
# all nodes; `srun` itself would kill them at a signal.
asked=
step=
ask() {
    asked=$1
    [[ -z $step ]] || scancel --signal=TERM "$SLURM_JOB_ID" || :
}
trap 'ask TERM' TERM
trap 'ask INT' INT

# Runs a command and waits for its end, also where a signal comes meanwhile; its exit code is in `code`.
run() {
    code=0
    "$@" &
    step=$!
    while :; do
        code=0
        wait "$step" || code=$?
        kill -s 0 "$step" 2>/dev/null || break
    done
    step=
}

# Runs a command once on each node.
on_each_node() {
    exec srun --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 --cpu-bind=none --wait=300 "$@"
}

# Runs the launch script on each node, which starts a process for each rank.
launch() {
    local script='launch=$1 root=$2 grace=$3
        shift 3
        exec bash "$launch" --nodes "$SLURM_STEP_NUM_NODES" --node-rank "$SLURM_NODEID" --root "$root" --grace "$grace" -- "$@"'
    on_each_node bash -c "$script" node "$launch" "$root" "$grace" "$@"
}

# Prints the name of the node where the self-test fails, and what it found to standard error.
self_test() {
    local script='said=$("$@" 2>&1) && exit
        while IFS= read -r line; do printf "%s: %s\n" "$SLURMD_NODENAME" "$line" >&2; done <<<"$said"
        printf "%s\n" "$SLURMD_NODENAME"'
    on_each_node bash -c "$script" node halite neuron selftest --target "$target" "${local_checks[@]}" --quiet
}

over() {
    say "$1"
    exit 1
}

# Nothing is trained on a node that computes wrongly or does not hear the others.
burn_in() {
    local found bad
    say 'burn-in: each node by itself'
    found=$(mktemp)
    run self_test >"$found"
    bad=$(paste -sd , "$found")
    rm -f "$found"
    [[ -z $asked ]] || return 0
    [[ -z $bad ]] || over "the burn-in failed on $bad: the job is over; submit it without: sbatch --exclude=$bad"
    ((code == 0)) || over "the burn-in did not run: srun ended with exit code $code"
    say 'burn-in: all ranks together'
    run launch halite neuron selftest --ranks --target "$target" --work-dir "$work"
    [[ -z $asked ]] || return 0
    ((code == 0)) || over "the burn-in of all ranks failed with exit code $code: the job is over; what is said above names the rank, and with it the node"
}

# Has Slurm start the job again, unless it ends or requeues it by itself.
again() {
    if [[ $(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%T) == RUNNING ]]; then
        say "$1; the job is requeued"
        scontrol requeue "$SLURM_JOB_ID"
    fi
    exit "$code"
}

code=0
if [[ $burn_in == yes ]]; then
    burn_in
fi
if [[ -z $asked ]]; then
    run launch "${options[@]}" "$@"
    ((code != 0)) || exit 0
fi
[[ $asked != INT ]] || exit "$code"
[[ $asked != TERM ]] || again 'told to make room'
case $code in
129 | 130 | 143) again 'its processes were told to end, with the state saved' ;;
75 | 137)
    ((${SLURM_RESTART_COUNT:-0} < most_restarts)) ||
        over "exit code $code, after $most_restarts restarts: the job is over"
    again "exit code $code: a device, a node or a process failed"
    ;;
esac
say "exit code $code: the job is over"
exit "$code"
