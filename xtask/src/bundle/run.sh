#!/usr/bin/env bash
# Runs what this bundle holds on this machine's GPUs and writes results/. Needs neither Rust nor network.
#   bash run.sh [SECTION...]   of: tests tsunami ranks python bench sanitize; all by default, in this order;
#                              and of what first.sh starts: probe calls figures side peers wgpu links memcheck; and profile
# A call ends after BUDGET seconds (570): call again until nothing is left. What has passed is not repeated, what
# has failed is tried again after all that is new.
#   OUT=FOLDER    where copies of the results go after every step: summary.txt, and results.tar.gz, which a
#                 bundle on another machine takes up if it lies beside run.sh
#   PEERS=PYTHON  whose CuPy, PyTorch, JAX and pytest are used, default python3; empty: none
#   QUICK=1       small sizes, to see that everything runs; the figures mean nothing
#   SLOWER=N      multiplies every limit and the budget, for machines that only simulate a GPU
#   LIBVULKAN=FILE  a Vulkan loader for wgpu, default vulkan/libvulkan.so.1 where the bundle carries one
# Exit status: 0 all passed, 1 something failed, 2 misuse, 3 something was skipped or is left to be run.
set -uo pipefail
cd "$(dirname "$0")" || exit 2
sections=("${@:-all}")
for section in "${sections[@]}"; do
    case "$section" in
    all | tests | tsunami | ranks | python | bench | sanitize) ;;
    probe | calls | figures | side | peers | wgpu | links | memcheck | profile) ;;
    *) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
done
out=results copies="${OUT:-}" slower="${SLOWER:-1}" python="${PEERS-python3}" quick="${QUICK:-}"
budget=$((${BUDGET:-570} * slower))
[ -e "$out/results.jsonl" ] || [ ! -e results.tar.gz ] || tar -xzf results.tar.gz || exit 2
mkdir -p "$out/logs" && touch "$out/results.jsonl" || exit 2
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}"
# Without xz, Python unpacks.
unpack() { tar -xJf bin.tar.xz 2>/dev/null || python3 -m tarfile -e bin.tar.xz .; }
[ bin -nt bin.tar.xz ] || { rm -rf bin && unpack && touch bin; } || exit 2

quoted() { printf '"%s"' "$(printf '%s' "$1" | tr '\n\t' '  ' | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }
# record SECTION NAME VERDICT SECONDS NOTE: one line of JSON; the last line of a name counts.
record() {
    printf '{"section":"%s","name":"%s","verdict":"%s","seconds":%s,"note":%s}\n' \
        "$1" "$2" "$3" "$4" "$(quoted "$5")" | tee -a "$out/results.jsonl"
}
verdict() { grep "\"name\":\"$1\"" "$out/results.jsonl" | tail -1 | sed 's/.*"verdict":"\([a-z]*\)".*/\1/'; }
has_passed() { [ "$(verdict "$1")" = passed ]; }
# summarize: the last verdict of each name, what the tests counted, and the tables.
summarize() {
    local table
    {
        cat "$out/machine.txt"
        echo && sed -n 's/.*"name":"\([^"]*\)","verdict":"\([^"]*\)","seconds":\([^,]*\),"note":\(.*\)}/\2 \1 \3 s \4/p' \
            "$out/results.jsonl" | awk '$1 != "seen" { last[$2] = $0 } END { for (name in last) print last[name] }' | sort
        echo && sed 's/^/left /' "$out/left"
        echo && grep -h '^ran: ' "$out"/logs/*.log 2>/dev/null | awk '{ n[$2] += $3 } END { for (i in n) print "ran:", i, n[i] }' | sort
        grep -h '^skipped: ' "$out"/logs/*.log 2>/dev/null | sort -u
        for table in "$out"/logs/{probe,calls,first-,peers,wgpu-figures,profile,bench-}*.log; do
            [ ! -s "$table" ] || { echo && basename "$table" .log && cat "$table"; }
        done
    } >"$out/summary.new"
    mv "$out/summary.new" "$out/summary.txt"
}
# save: what was found so far, for who stops this. What two programs wrote to be compared stays here.
save() {
    summarize
    [ -n "$copies" ] || return 0
    local packed="$copies/results.tar.gz"
    tar --exclude '*.npy' -czf "$packed.new" "$out" && mv "$packed.new" "$packed"
    cp "$out/summary.txt" "$copies"
}
tried=" " pass=new given=0
: >"$out/left"
# is_due NAME LIMIT: whether it is its turn; `given` are then the seconds that it gets. With too little time for its
# limit it gets what there is, if that is a third; whatever does not end then is left for the next call.
is_due() {
    case "$pass:$(verdict "$1")" in
    *:passed | new:failed) return 1 ;;
    again:failed) case "$tried" in *" $1 "*) return 1 ;; esac ;;
    again:*) return 1 ;;
    esac
    given=$((budget - SECONDS))
    [ "$given" -lt "$2" ] || given="$2"
    if [ $((3 * given)) -lt "$2" ]; then
        echo "$1" >>"$out/left"
        return 1
    fi
    tried="$tried$1 "
}
# execute SECTION NAME LIMIT COMMAND...: runs it within `given` seconds; its output becomes a log.
execute() {
    local section="$1" name="$2" limit="$3" log="$out/logs/$2.log" begin code
    shift 3
    begin=$(date +%s%N)
    timeout -k 5 "$given" "$@" >"$log" 2>&1
    code=$?
    # A filter that finds no test would look like success.
    ! grep -q '^test result: ok. 0 passed' "$log" || code=no-test-ran
    set -- "$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $begin) / 1e9 }")"
    case "$code" in
    0) record "$section" "$name" passed "$1" "" ;;
    124 | 137)
        if [ "$given" -lt "$limit" ]; then
            echo "$name" >>"$out/left"
        else
            record "$section" "$name" failed "$1" "stopped after $limit s"
        fi
        ;;
    *) record "$section" "$name" failed "$1" "ended with $code: $(tail -n 3 "$log")" ;;
    esac
}
# step SECTION NAME LIMIT COMMAND...: unless it has passed; the results so far are saved after it.
step() {
    local limit=$(($3 * slower))
    is_due "$2" "$limit" || return 0
    execute "$1" "$2" "$limit" "${@:4}"
    save
}
# start SECTION NAME LIMIT COMMAND...: a step beside the others that are started, until `finish`.
start() {
    local limit=$(($3 * slower))
    is_due "$2" "$limit" || return 0
    execute "$1" "$2" "$limit" "${@:4}" &
}
finish() { wait && save; }
# skip SECTION NAME REASON
skip() { [ "$pass" = again ] || has_passed "$2" || record "$1" "$2" skipped 0 "$3"; }

# What is here: the driver decides what can be run.
timeout 60 bin/partita-bench doctor >"$out/doctor.txt" 2>&1
cuda=$(sed -n 's/^[a-z ]*: \(cuda:.*\)/\1/p' "$out/doctor.txt" | paste -sd ';')
simulated=$(grep -c '^software adapter: cuda:' "$out/doctor.txt")
no_cuda=$(sed -n 's/^cuda: //p' "$out/doctor.txt")
[ -z "$python" ] || "$python" -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null || python=""
if_there() { if command -v "$1" >/dev/null; then timeout 20 "$@" 2>&1; else echo "not installed"; fi; }
gpu_facts=name,driver_version,memory.total,clocks.sm,clocks.mem,clocks.max.sm,power.limit,ecc.mode.current
versions='from importlib.metadata import distributions as d
words = ("numpy", "torch", "cupy", "jax", "pytest")
found = sorted({f"{x.name} {x.version}" for x in d() if x.name and x.name.lower().startswith(words)})
print(", ".join(found) or "none of " + ", ".join(words))'
{
    echo "date: $(date -u +%FT%TZ)"
    echo "system: $(uname -srm), $(getconf GNU_LIBC_VERSION)"
    echo "cuda devices: ${cuda:-none: $no_cuda}"
    echo "nvidia-smi: $(if_there nvidia-smi --query-gpu=$gpu_facts --format=csv,noheader | paste -sd ';')"
    echo "nvcc: $(if_there nvcc --version | tail -1)"
    echo "python: $([ -n "$python" ] && "$python" -c "$versions" || echo "no Python 3.11 or newer")"
} >"$out/machine.txt"
sed 's/^/-- /' "$out/machine.txt"
record machine machine seen 0 "$(cat "$out/machine.txt")" >/dev/null

tests() {
    local test
    if [ -n "$cuda" ]; then export PARTITA_TEST_DEVICES=cuda; else skip tests cuda-tests "$no_cuda"; fi
    # Drivers take their time to compile: more random kernels come in the end.
    export PARTITA_FUZZ_SEEDS=0..300
    [ -z "$quick" ] || PARTITA_FUZZ_SEEDS=0..40
    for test in bin/test-*; do
        # What is found about adapters of wgpu is tested with these.
        [ "$test" = bin/test-subnormals ] || step tests "$(basename "$test")" 200 "$test" --show-output
    done
    unset PARTITA_TEST_DEVICES PARTITA_FUZZ_SEEDS
}

# The record of all cases in three types, played without the engine; then the stencils under other limits.
probe() {
    local record size=(--seconds 0.04)
    [ -z "$quick" ] || size=(--copy-bytes 65536 --seconds 0.001)
    [ -n "$cuda" ] || { skip probe probe "$no_cuda" && return; }
    [ -e probe ] || { skip probe probe "the bundle was made without a record" && return; }
    if [ "$simulated" -ne 0 ]; then
        # It would compute for hours: it takes every launch and leaves it out.
        mkdir -p "$out/played" && size=(--once)
        local -x PARTITA_SIM_RECORD="$PWD/$out/played" PARTITA_SIM_MEMORY_BYTES=$((1 << 37))
    fi
    step probe probe 25 python3 probe.py probe --dtype f32,f64,f16 "${size[@]}" --save "$out/probe.jsonl"
    for record in probe-*; do
        [ ! -d "$record" ] || step probe "$record" 6 python3 probe.py "$record" "${size[@]}" --save "$out/$record.jsonl"
    done
}

# The Python package, where it is not installed yet; JAX would take most of the GPU's memory for itself.
has_package() {
    [ -n "$python" ] || { skip python python-install "no Python 3.11 or newer" && return 1; }
    step python python-install 15 "$python" -m pip install --quiet --no-index --no-deps --upgrade --target site partita-*.whl
    export PYTHONPATH="$PWD/site${package_path:+:$package_path}" PYTHONDONTWRITEBYTECODE=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
    has_passed python-install
}
package_path="${PYTHONPATH:-}"

# Whole calls from Python, beside the libraries that are here.
calls() {
    has_package || { skip calls calls "the Python package is not installed" && return; }
    has_numpy || { skip calls calls "$no_numpy" && return; }
    step calls calls 75 bin/partita-bench calls --python "$python" --device "$bench_device" ${quick:+--smoke} \
        --save "$out/calls.jsonl"
}

# What GPUs were measured with before, and less time for each.
first_size=(--quick --n $((1 << 26)) --plane 8192 --cube 512 --samples 9)
[ -z "$quick" ] || first_size=(--smoke)
# first_figures NAME LIMIT ARGUMENTS...
first_figures() {
    step figures "$1" "$2" bin/partita-bench run --device "$bench_device" "${first_size[@]}" "${@:3}" --save "$out/$1.jsonl"
}
figures_of_first() {
    [ -n "$cuda" ] || { skip figures first-figures "$no_cuda" && return; }
    first_figures first-figures 45 --filter E1,E2,R1,S1,S2,S3
    first_figures first-programs 35 --filter T1,A1
    first_figures first-L1 15 --filter L1
}

# Tests side by side: whether the bits are right. Each may have a part of the cores.
side() {
    local -x PARTITA_TEST_DEVICES=cuda PARTITA_FUZZ_SEEDS=0..60
    local test beside=() size=(--scale 4 --parts 6 --steps 200 --frames 0 --data salish_topobathy.npz --json)
    [ -z "$quick" ] || size=(--scale 1 --parts 3 --steps 5 --frames 0 --data salish_topobathy.npz --json)
    [ -n "$cuda" ] || { skip tests side "$no_cuda" && return; }
    for test in bin/test-*; do
        case "$test" in bin/test-fork | bin/test-subnormals) continue ;; esac
        start tests "$(basename "$test")" 100 "$test" --show-output
    done
    start tsunami tsunami-host 100 bin/tsunami --device host "${size[@]}" --dump "$out/host.npy"
    start tsunami tsunami-cuda 100 bin/tsunami --device cuda "${size[@]}" --dump "$out/cuda.npy"
    if has_package; then
        ! "$python" -c 'import xdist' 2>/dev/null || beside=(-n 6)
        if "$python" -c 'import pytest' 2>/dev/null; then
            start python python-cuda 100 "$python" -m pytest interop/tests -c interop/pyproject.toml -q -k cuda --maxfail 80 \
                -p no:cacheprovider ${beside[@]+"${beside[@]}"}
        else
            skip python python-cuda "$python has no pytest"
        fi
    fi
    # Compilers of the peers keep on disk what they make: the section `peers` finds it there, and makes the rest.
    ! has_numpy || start peers compilers 100 bash -c 'timeout "$0" "$@" || [ $? = 124 ]' $((95 * slower)) \
        bin/partita-bench run --device cuda "${first_size[@]}" "${with_peers[@]}" --budget 0
    finish
    step tsunami tsunami-same-bits 5 cmp "$out/host.npy" "$out/cuda.npy"
}

# The peers in one process, which compiles everything before anything is timed.
peers() {
    [ -n "$cuda" ] || { skip peers peers "$no_cuda" && return; }
    has_numpy || { skip peers peers "$no_numpy" && return; }
    first_figures peers 150 "${with_peers[@]}" --budget $((60 * slower))
}
peers_filter="=copy,=triad,=fused8,=expsin,=sum,=max,=norm,=dot,=sum_rows,=sum_columns,=turned,=stencil5,=stencil9"
peers_filter+=",=stencil7,=stencil13,=stencil25,=stencil27,=heat,=gray_scott,=wave,=d3q19"
with_peers=(--peers "$python" --beside torch.compile,jax,nvcc --filter "$peers_filter")

# wgpu, by the loader that is carried where the machine has none.
wgpu() {
    local loader="${LIBVULKAN:-}" drivers=/usr/local/nvidia/share/vulkan/icd.d seen test
    [ -n "$loader" ] || [ ! -e vulkan/libvulkan.so.1 ] || loader="$PWD/vulkan/libvulkan.so.1"
    if [ -n "$loader" ]; then
        [ -e "$loader" ] || { skip wgpu wgpu "LIBVULKAN: there is no $loader" && return; }
        mkdir -p "$out/loader" && ln -sf "$(realpath "$loader")" "$out/loader/libvulkan.so.1"
        local -x LD_LIBRARY_PATH="$PWD/$out/loader${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    fi
    [ ! -d "$drivers" ] || local -x VK_DRIVER_FILES="${VK_DRIVER_FILES:-$(printf '%s:' "$drivers"/*.json)}"
    seen=$(timeout 60 bin/partita-bench doctor 2>/dev/null | grep '^[a-z ]*: wgpu' | paste -sd ';')
    [ -n "$seen" ] || { skip wgpu wgpu "wgpu finds no adapter; LIBVULKAN names a Vulkan loader" && return; }
    local -x PARTITA_TEST_DEVICES=wgpu
    for test in kernels arrays subnormals; do
        start wgpu "wgpu-$test" 70 "bin/test-$test" --show-output
    done
    finish
    step wgpu wgpu-figures 35 bin/partita-bench run --device wgpu "${wgpu_size[@]}" \
        --filter W1,=turned,=stencil5,=gray_scott --save "$out/wgpu-figures.jsonl"
}
wgpu_size=(--quick --n $((1 << 25)) --plane 4096 --cube 256 --samples 7)
[ -z "$quick" ] || wgpu_size=(--smoke)

# Nine kernels under the profiler, each launched once.
profile() {
    local metrics=gpu__time_duration.sum,dram__bytes.sum,lts__t_bytes.sum,l1tex__data_pipe_lsu_wavefronts.sum
    metrics+=,smsp__inst_executed.sum,sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread
    [ -n "$cuda" ] || { skip profile profile "$no_cuda" && return; }
    [ -e probe ] || { skip profile profile "the bundle was made without a record" && return; }
    command -v ncu >/dev/null || { skip profile profile "ncu is not installed" && return; }
    step profile profile 120 ncu --clock-control none --csv --metrics "$metrics" python3 probe.py probe --once --dtype f32 \
        --filter copy,fused8,sum,sum_rows,sum_columns,stencil7,stencil27,wave,d3q19
}

# checked HOW NAME LIMIT TOOL TEST...: tests under one of the sanitizer's tools, by `step` or `start`.
checked() {
    [ -n "$cuda" ] || { skip sanitize "$2" "$no_cuda" && return; }
    [ "$simulated" -eq 0 ] || { skip sanitize "$2" "the simulated driver checks by itself" && return; }
    command -v compute-sanitizer >/dev/null || { skip sanitize "$2" "compute-sanitizer is not installed" && return; }
    PARTITA_TEST_DEVICES=cuda "$1" sanitize "$2" "$3" compute-sanitizer --tool "$4" --error-exitcode 1 \
        bin/test-kernels --test-threads 1 "${@:5}"
}
memcheck() {
    checked start first-memcheck 72 memcheck folds stencils
    checked start first-racecheck 72 racecheck folds stencils
    finish
}

# Programs of several processes, whose messages travel in every way there is.
# mpi_ranks LIMIT COUNT...
mpi_ranks() {
    local mpi="$PWD/bin/mpi" limit="$1" n
    [ -n "$cuda" ] || { skip ranks ranks-cuda "$no_cuda" && return; }
    [ -e bin/mpi ] || { skip ranks ranks-cuda "the bundle was made without an MPI for CUDA" && return; }
    local -x OPAL_PREFIX="$mpi" LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$mpi/lib" PARTITA_THREADS=1
    local -x OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    for n in "${@:2}"; do
        step ranks "ranks-pointers-$n" "$limit" env PARTITA_CUDA_IPC=0 "$mpi/bin/mpirun" --oversubscribe -n "$n" bin/ranks cuda "device pointers"
        step ranks "ranks-ipc-$n" "$limit" "$mpi/bin/mpirun" --oversubscribe -n "$n" bin/ranks cuda "CUDA IPC between"
        step ranks "ranks-staged-$n" "$limit" env PARTITA_CUDA_IPC=0 PARTITA_CUDA_AWARE_MPI=0 \
            "$mpi/bin/mpirun" --oversubscribe -n "$n" bin/ranks cuda "staged"
    done
}
# tcp_ranks LIMIT: without MPI, from Python.
tcp_ranks() {
    has_package || { skip ranks ranks-tcp "the Python package is not installed" && return; }
    has_numpy || { skip ranks ranks-tcp "$no_numpy" && return; }
    step ranks ranks-tcp "$1" "$python" ranks.py ${quick:+--small} --processes 1,2,3
}
ranks() { mpi_ranks 120 2 3 && tcp_ranks 120; }
links() { mpi_ranks 12 2 && tcp_ranks 24; }

tsunami() {
    local device size=(--scale 4 --parts 6 --steps 200 --frames 0 --data salish_topobathy.npz --json)
    [ -z "$quick" ] || size=(--scale 1 --parts 3 --steps 5 --frames 0 --data salish_topobathy.npz --json)
    step tsunami tsunami-host 120 bin/tsunami --device host "${size[@]}" --dump "$out/host.npy"
    [ -n "$cuda" ] || { skip tsunami tsunami-cuda "$no_cuda" && return; }
    step tsunami tsunami-cuda 120 bin/tsunami --device cuda "${size[@]}" --dump "$out/cuda.npy"
    step tsunami tsunami-same-bits 10 cmp "$out/host.npy" "$out/cuda.npy"
    step tsunami tsunami-checked 120 env PARTITA_CHECK=1 bin/tsunami --device cuda --scale 1 --parts 6 \
        --steps 3 --frames 0 --data salish_topobathy.npz
    for device in heat gray_scott; do
        [ -n "$quick" ] || step tsunami "$device" 120 env PARTITA_DEVICE=cuda "bin/$device"
    done
}

# figures NAME ARGUMENTS...: a run of the benchmark; the copy is measured in each, first and between the others.
figures() {
    local name="$1"
    shift
    step bench "$name" 280 bin/partita-bench run --device "$bench_device" "${size[@]}" "$@" --save "$out/$name.jsonl"
}
bench_device=host size=(--n $((1 << 27)) --plane 16384 --cube 512 --samples 21)
[ -z "$cuda" ] || bench_device=cuda
[ -z "$quick" ] || size=(--smoke)
no_numpy="no Python 3.11 or newer"
[ -z "$python" ] || no_numpy="$python has no NumPy"
has_numpy() { [ -n "$python" ] && "$python" -c 'import numpy' 2>/dev/null; }
# beside DTYPE NAME...: a workload at a time: peers import and compile for long, each in a process of its own.
beside() {
    local dtype="$1" name mark
    shift
    [ "$dtype" = f32 ] && mark="" || mark="-$dtype"
    for name in "$@"; do
        figures "bench-peers-$name$mark" --dtype "$dtype" --filter "=$name" --peers "$python"
    done
}

bench() {
    local group
    [ -n "$cuda" ] || skip bench bench-cuda "$no_cuda"
    # Our own first: what of a step that takes too long was measured is kept.
    for group in E1,R1 S1,S2 S3 E2; do
        figures "bench-${group//,/-}-f32" --filter "$group"
    done
    for group in T1,A1 H1 P1 L1; do
        figures "bench-${group//,/-}" --filter "$group"
    done
    if has_numpy; then
        beside f32 triad fused8 sum stencil7 d3q19 sum_rows sum_columns max norm stencil5 stencil27 wave gray_scott expsin \
            turned_too slab_slab jacobi record flush
        beside f64 fused8 stencil7
    else
        skip bench peers "$no_numpy"
    fi
    for group in E1,R1 S1,S2 S3 E2; do
        figures "bench-${group//,/-}-f64" --dtype f64 --filter "$group"
    done
    figures bench-E1-R1-f16 --dtype f16 --filter E1,R1
    if grep -q '^device: wgpu' "$out/doctor.txt" && [ -n "$cuda" ]; then
        step bench bench-W1 280 bin/partita-bench run --device cuda,wgpu "${size[@]}" --filter W1 --save "$out/bench-W1.jsonl"
    else
        skip bench bench-W1 "wgpu finds no GPU beside the CUDA device"
    fi
}

# All figures so far, those beside the peers first.
page() {
    local files=("$out"/bench-peers-*.jsonl "$out"/bench-[!p]*.jsonl) there=() name log="$out/logs/bench-page.log"
    for name in "${files[@]}"; do [ ! -s "$name" ] || there+=("$name"); done
    [ ${#there[@]} -gt 0 ] || return 0
    if timeout 60 bin/partita-bench report "${there[@]}" --out "$out/bench.md" >"$log" 2>&1; then
        record bench bench-page passed 0 ""
    else
        record bench bench-page failed 0 "$(tail -n 3 "$log")"
    fi
}

python() {
    has_package || return 0
    if "$python" -c 'import pytest' 2>/dev/null; then
        step python python-tests 280 "$python" -m pytest interop/tests -c interop/pyproject.toml -q -rs -p no:cacheprovider
    else
        skip python python-tests "$python has no pytest"
    fi
}

sanitize() {
    local tool
    [ -z "$cuda" ] ||
        PARTITA_TEST_DEVICES=cuda PARTITA_FUZZ_SEEDS=300..2000 step sanitize more-fuzz 280 bin/test-fuzz --show-output
    for tool in memcheck racecheck initcheck; do
        checked step "sanitize-$tool" 280 "$tool" folds gather stencils copies narrow
    done
}

for pass in new again; do
    for section in "${sections[@]}"; do
        case "$section" in
        all) tests; tsunami; ranks; python; bench; sanitize ;;
        figures) figures_of_first ;;
        *) "$section" ;;
        esac
    done
done
page

save
count() { grep -c "^$1 " "$out/summary.txt"; }
echo "$(count passed) passed, $(count failed) failed, $(count skipped) skipped, $(count left) left; see $out/summary.txt"
[ "$(count failed)" -eq 0 ] || exit 1
[ "$(count skipped)" -eq 0 ] && [ "$(count left)" -eq 0 ] || exit 3
