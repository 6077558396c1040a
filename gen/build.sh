#!/bin/bash
# SPDX-License-Identifier: MIT
# gen/build.sh [TARGET...]: configures build/ where it is not, and builds the targets (default: all).
# Prints nothing if everything is up to date; else the amount of work with an estimate of its time, then progress:
# a bar on a terminal, a line every ten seconds elsewhere. build/build.log has the compiler's output.
set -euo pipefail
PATH=$PATH:/usr/local/bin:/usr/bin:/bin
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build
log=$build/build.log
cores=$(nproc)
every=10 # seconds between two lines in a log

say() { echo "nibblewave: $*" >&2; }

# "[ 12/345] Building x" as a bar, or as it is.
bar() {
    local filled empty
    [[ $1 =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]] || return 0
    filled=$((20 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    printf -v empty '%*s' $((20 - filled)) ''
    printf -v filled '%*s' "$filled" ''
    printf '\r\e[K[%s%s] %d of %d: %.40s' "${filled// /#}" "${empty// /.}" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" \
        "${BASH_REMATCH[3]##*/}" >&2
}

progress() {
    local line last="" next=$((SECONDS + every)) status
    while true; do
        status=0
        IFS= read -r -t "$every" line || status=$?
        if ((status == 0)); then
            [[ $line != \[* ]] || last=$line
        elif ((status <= 128)); then # the end, not the time
            break
        fi
        if [[ -t 2 ]]; then
            bar "$last"
        elif ((SECONDS >= next)) && [[ $last ]]; then
            say "$SECONDS s: ${last:0:100}"
            next=$((SECONDS + every))
        fi
    done
    [[ ! -t 2 ]] || printf '\r\e[K' >&2
}

# The error: one sentence if that suffices, else the compiler's output.
cause() {
    local said
    said=$(sed -n '/^CMake Error at .*(message):/,/^Call Stack\|^-- /p' "$log" | sed '1d;/^Call Stack/d;/^-- /d' | xargs -d '\n' | tr -s ' ')
    if grep -q 'No space left on device' "$log" 2>/dev/null || [[ $(df --output=avail -k "$build" | tail -n 1) -lt 1024 ]]; then
        say "$1 failed; the disk that holds $build is full: free some GB and run this again"
    elif [[ $said ]]; then
        say "$1 failed:$said"
    else
        grep -v '^\[[0-9]*/[0-9]*\]' "$log" | tail -n 40
        say "$1 failed; all of it is in $log"
    fi
}

step() {
    local what=$1
    shift
    if ! "$@" </dev/null 2>&1 | tee "$log" | progress; then
        cause "$what" >&2
        exit 1
    fi
}

# A build directory that was copied or moved along with the sources can't be used again.
configured() {
    [[ -f $build/build.ninja || -f $build/Makefile ]] &&
        grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"
}

configure() {
    local generator=()
    rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    if command -v ninja >/dev/null; then
        generator=(-G Ninja)
    fi
    step "configuring" cmake --preset release "${generator[@]}"
}

# Prints the amount of work, if there is much. Core seconds, as measured: a C++ file 2, a family's kernels for a target 1.
announce() {
    local edges cpp kernels seconds about
    [[ -f $build/build.ninja ]] || return 0
    ln -sfn build.ninja "$build/as_it_is.ninja" # by its own name ninja sees no further than that CMake checks its globs
    edges=$(ninja -C "$build" -f as_it_is.ninja -n "$@" 2>/dev/null) || return 0
    cpp=$(grep -cE '^\[[0-9/]+\] Building C(XX)? object' <<<"$edges") || true
    kernels=$(grep -cE '^\[[0-9/]+\] Kernels of ' <<<"$edges") || true
    seconds=$(((2 * cpp + kernels) / cores))
    ((seconds >= 5)) || return 0
    ((cpp)) || cpp=""
    ((kernels)) || kernels=""
    about="$seconds s"
    ((seconds < 100)) || about="$(((seconds + 30) / 60)) min"
    say "builds${cpp:+ $cpp C++ files}${cpp:+${kernels:+ and}}${kernels:+ the kernels of $kernels families and targets} on $cores cores: about $about"
}

main() {
    cd "$root"
    mkdir -p "$build" 2>/dev/null || {
        say "$build can't be made: the source tree must be writable"
        exit 1
    }
    [[ ! ${NW_RUNNER-} ]] || return 0 # in a test: tests/run has the lock, and has built what the test needs
    exec 9>"$build/.lock" # bench/run and tests/run may be started side by side
    if command -v flock >/dev/null && ! flock -n 9; then
        say "another build is under way here; this one waits for it"
        flock 9
    fi
    configured || configure
    [[ ! -f $build/build.ninja ]] || step "configuring" ninja -C "$build" build.ninja
    announce "${@:-all}"
    step "the build" cmake --build "$build" --parallel "$cores" --target "${@:-all}"
    ((SECONDS < 5)) || say "built in $SECONDS s"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then # tests/rules/test_build.py sources it
    main "$@"
fi
