#!/usr/bin/env bash
# Trains under a real slurmctld with two slurmd on this machine, from the files that `halite cluster slurm` writes, on the stand-ins for
# Neuron: a job whose rank is killed, that is told to make room, and that is requeued from outside, goes on from its newest checkpoint
# each time, and ends as a run that nothing ended, bit for bit; a job with a node that computes wrongly names it and trains nothing.
#
#   tests/slurm.sh [--install]     with --install, only has Debian's packages installed
#
# Needs root, Debian's slurmctld, slurmd, slurm-client and munge, the plugin of the CPU, and a build of all tests. Ports and folders are
# its own, and everything that it starts is ended.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --install ]; then
    command -v slurmctld slurmd srun munged > /dev/null && exit
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge > /dev/null
    exit
fi

built=$(realpath "${CARGO_TARGET_DIR:-target}")/debug
place=$(mktemp -d /tmp/halite-slurm.XXXXXX)
# Daemons of Slurm and munge want folders that others may look into.
chmod 755 "$place"
export SLURM_CONF=$place/slurm.conf

# Ends what was started, in the order in which one needs the other.
finish() {
    local status=$? name
    if [ "$status" != 0 ]; then
        tail -n 30 "$place"/*.log "$place"/work/*.log >&2 || true
    fi
    [ ! -e "$place/slurmctld.pid" ] || scancel --user=root > /dev/null 2>&1 || true
    for name in slurmd-n1 slurmd-n2 slurmctld munged; do
        end "$place/$name.pid"
    done
    rm -rf "$place"
}
trap finish EXIT

# end FILE: ends the daemon whose number is in a file, and waits for it.
end() {
    local pid
    pid=$(cat "$1" 2> /dev/null) || return 0
    kill "$pid" 2> /dev/null || return 0
    for _ in $(seq 100); do
        kill -0 "$pid" 2> /dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2> /dev/null || true
}

# until_it WHAT COMMAND: waits until a command holds.
until_it() {
    local deadline=$((SECONDS + 120))
    until "${@:2}" > /dev/null 2>&1; do
        if [ "$SECONDS" -ge "$deadline" ]; then
            echo "waited two minutes, and it is not so that $1" >&2
            return 1
        fi
        sleep 0.1
    done
}

# A port that nobody has, below those that the system gives to whoever connects.
port() {
    python3 - << 'END'
import random, socket
while True:
    port = random.randrange(20000, 32000)
    try:
        socket.create_server(("127.0.0.1", port)).close()
        print(port)
        break
    except OSError:
        pass
END
}

host=$(hostname -s)
cat > "$SLURM_CONF" << END
ClusterName=halite
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(port)
SlurmUser=root
AuthType=auth/munge
# Requeued jobs wait for as long as credentials are good.
AuthInfo=socket=$place/munge.socket,cred_expire=5
CredType=cred/munge
FirstJobId=$((RANDOM + 1))
MpiDefault=none
KillWait=10
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1
SlurmdParameters=config_overrides
SlurmctldPidFile=$place/slurmctld.pid
SlurmctldLogFile=$place/slurmctld.log
SlurmdPidFile=$place/slurmd-%n.pid
SlurmdLogFile=$place/slurmd-%n.log
SlurmdSpoolDir=$place/spool-%n
StateSaveLocation=$place/state
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(port) CPUs=2
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(port) CPUs=2
PartitionName=all Nodes=ALL Default=YES
END
mkdir "$place/state" "$place/spool-n1" "$place/spool-n2"
head -c 1024 /dev/urandom > "$place/munge.key"
chmod 400 "$place/munge.key"
munged --force --key-file="$place/munge.key" --socket="$place/munge.socket" --pid-file="$place/munged.pid" \
    --log-file="$place/munged.log" --seed-file="$place/munged.seed" 2> /dev/null
slurmctld -c
slurmd -N n1
slurmd -N n2
idle() { [ "$(sinfo --noheader --format=%D-%t)" = 2-idle ]; }
until_it "two nodes are idle" idle

# A bundle for two ranks, its NEFFs, and a text; `halite` computes wrongly on the second node where there is a file `broken`.
mkdir "$place/bin" "$place/work"
cat > "$place/bin/halite" << END
#!/usr/bin/env bash
if [ "\${SLURMD_NODENAME:-}" = n2 ] && [ -e "$place/broken" ]; then
    export HALITE_STANDIN_NRT_DEFECT=dot-bf16
fi
exec '${HALITE_PROGRAM:-$built/halite}' "\$@"
END
chmod +x "$place/bin/halite"
export PATH=$place/bin:$PATH
export HALITE_NEURONX_CC=$built/stand-in-neuronx-cc STAND_IN_PROGRAMS=1
export HALITE_NRT=$built/deps/libhalite_standin_nrt.so HALITE_STANDIN_NRT_XLA_FLAGS=${XLA_FLAGS:-}
unset XLA_FLAGS
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
cd "$place/work"
settings=(--set layers=1 --set seq=16 --set batch=2 --set vocab=256 --set parallel.data=2 --set 'neuron.compiler="2.27.5334"')
halite compile tiny --target trn1 "${settings[@]}" --role train_step -o bundle > /dev/null
halite neuron compile bundle --cache "$place/store" --quiet > /dev/null
for line in $(seq 400); do
    echo "line $line of $((line * 7 % 13)) is $((line * line))"
done > text.txt

# The files of two nodes, with one check of the self-test, and the same without the burn-in, which takes its time at every start.
options=(--text text.txt --seed 7 --held-out 0 --checkpoint-every 5 --quiet)
halite cluster slurm bundle --nodes 2 -- "${options[@]}" > /dev/null
sed -i 's/^readonly local_checks=.*/readonly local_checks=(--only products)/' cluster/slurm.sh
mkdir plain
sed 's/^readonly burn_in=yes$/readonly burn_in=no/' cluster/slurm.sh > plain/slurm.sh

state() { scontrol --oneliner show job "$1" | sed -n 's/.* JobState=\([^ ]*\).*/\1/p'; }
restarts() { scontrol --oneliner show job "$1" | sed -n 's/.* Restarts=\([^ ]*\).*/\1/p'; }
is() { [ "$(state "$1")" = "$2" ]; }
is_start() { is "$1" RUNNING && [ "$(restarts "$1")" = "$2" ]; }
updates() { wc -l < run/metrics.jsonl; }
goes_on() { [ "$(find run/checkpoints -mindepth 1 -maxdepth 1 -newer "$place/mark" | wc -l)" -gt 0 ]; }
# The process of a rank: of this job, and of no launcher.
rank() {
    local process
    for process in /proc/[0-9]*; do
        if grep -qzx "RANK=$1" "$process/environ" 2> /dev/null && grep -qzx "HALITE_LAUNCH=$job.*" "$process/environ" &&
            grep -qzx train "$process/cmdline"; then
            basename "$process"
            return
        fi
    done
    return 1
}
# disturbed WHAT RESTARTS COMMAND: once there is a new checkpoint, does something that starts the job again.
disturbed() {
    touch "$place/mark"
    until_it "there is a new checkpoint before $1" goes_on
    "${@:3}"
    until_it "the job runs again after $1" is_start "$job" "$2"
    echo "after $1 the job was requeued, at update $(updates)"
}
kill_rank() { kill -KILL "$(rank 1)"; }

job=$(sbatch --parsable plain/slurm.sh --steps 1000000 -o run)
until_it "the job runs" is_start "$job" 0
mkdir -p run/checkpoints
disturbed "a rank that is killed" 1 kill_rank
disturbed "a job that is told to make room" 2 scancel --batch --signal=TERM "$job"
grep -q 'stopped the run after update' bundle-"$job".log
disturbed "a requeue from outside" 3 scontrol requeue "$job"
touch "$place/mark"
until_it "there is a new checkpoint after the last start" goes_on
scancel --batch --signal=INT "$job"
over() { is "$1" COMPLETED || is "$1" FAILED; }
until_it "the job is over" over "$job"
[ "$(restarts "$job")" = 3 ]

# The rest in a job of its own, with the burn-in, and the same run in one process without any end.
steps=$(($(updates) + 5))
job=$(sbatch --parsable cluster/slurm.sh --steps "$steps" -o run)
until_it "the last job is over" over "$job"
is "$job" COMPLETED
grep -q '^slurm: burn-in: all ranks together' bundle-"$job".log
grep -q '^2 ranks on 1 node: a sum over all and a gathering of all are right' bundle-"$job".log
halite train bundle --steps "$steps" -o whole "${options[@]}" > /dev/null
cmp run/metrics.jsonl whole/metrics.jsonl
halite convert bundle run/state.safetensors.index.json -o run.safetensors > /dev/null
halite convert bundle whole/state.safetensors -o whole.safetensors > /dev/null
cmp run.safetensors whole.safetensors
echo "a run of four starts in two jobs has the metrics and the state of one that nothing ended, $steps updates"

# On a disk that is full, in a space of mounts of its own, the job ends with what to do, and is not started again.
mkdir full
full() { unshare --mount bash -c 'mount -t tmpfs -o size=2m tmpfs full && "$@"' full "$@"; }
said=$(full bash cluster/launch.sh --root "127.0.0.1:$(port)" -- "${options[@]}" --steps 40 -o full/run 2>&1) && status=0 || status=$?
[ "$status" = 2 ]
grep -q 'error\[E0501\]: cannot write .*: no space left on device' <<< "$said"
grep -q 'the state that was saved last is whole: `--resume full/run/state.safetensors.index.json`' <<< "$said"
echo "a full disk is named, and the state that was saved last is whole"

touch "$place/broken"
job=$(sbatch --parsable cluster/slurm.sh --steps 2 -o never)
until_it "the job with a broken node is over" over "$job"
is "$job" FAILED
grep -q '^slurm: the burn-in failed on n2: the job is over; submit it without: sbatch --exclude=n2' bundle-"$job".log
[ ! -e never ]
echo "a node that computes wrongly is named, and nothing is trained"
