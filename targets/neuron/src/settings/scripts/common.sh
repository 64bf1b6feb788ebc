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

# Takes the options of a script, whose names are in `$options`; what follows them is in `$program`.
read_options() {
    while (($# > 0)); do
        case $1 in
        --help)
            usage
            exit 0
            ;;
        --)
            shift
            break
            ;;
        -*)
            [[ " $options " == *" $1 "* ]] || refuse "there is no option $1; see --help"
            (($# > 1)) || refuse "$1 has no value"
            case $1 in
            --nodes) nodes=$2 ;;
            --node-rank) node_rank=$2 ;;
            --root) root=$2 ;;
            --grace) grace=$2 ;;
            esac
            shift 2
            ;;
        *) break ;;
        esac
    done
    program=("$@")
}

# Refuses a place among nodes that there is not; the last port for `root` is given.
check_place() {
    local last=$1
    number --nodes "$nodes" 1
    number --node-rank "$node_rank" 0
    number --grace "$grace" 0
    ((node_rank < nodes)) || refuse "--node-rank is $node_rank, of $nodes nodes from 0"
    ((world_size % nodes == 0)) || refuse "$world_size ranks cannot be divided among $nodes nodes"
    if [[ -z $root ]]; then
        ((nodes == 1)) || refuse 'several nodes need --root HOST:PORT'
        root=127.0.0.1:48620
    fi
    [[ $root =~ ^[^[:space:]]+:[1-9][0-9]{0,4}$ ]] && ((${root##*:} <= last)) ||
        refuse "--root is not HOST:PORT with a port from 1 to $last: '$root'"
}

# Refuses variables that would change the program.
check_environment() {
    local i name refused=0
    for ((i = 0; i < ${#forbidden[@]}; i += 2)); do
        name=${forbidden[i]}
        if [[ -n ${!name+set} ]]; then
            say "$name is set, and must not be; it is replaced by ${forbidden[i + 1]}"
            refused=1
        fi
    done
    for ((i = 0; i < ${#only[@]}; i += 2)); do
        name=${only[i]}
        if [[ -n ${!name+set} && ${!name} != "${only[i + 1]}" ]]; then
            say "$name is set to something else, and must be what the bundle says, or not set"
            refused=1
        fi
    done
    ((refused == 0)) || exit 2
}

nodes=1
node_rank=0
root=
grace=10
program=()
