#!/bin/bash
# SPDX-License-Identifier: MIT
# gen/build.sh [TARGET...]: configures build/ where it is not, and builds the targets (default: all).
# Says nothing if there is nothing to do; build/build.log has the compiler's words.
set -euo pipefail
PATH=$PATH:/usr/local/bin:/usr/bin:/bin
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build
log=$build/build.log

# The latest line of a long job, where a person watches.
progress() {
    local line
    while IFS= read -r line; do
        [[ ! -t 2 ]] || printf '\r\e[K%.79s' "$line" >&2
    done
    [[ ! -t 2 ]] || printf '\r\e[K' >&2
}

step() {
    local what=$1
    shift
    if ! "$@" </dev/null 2>&1 | tee "$log" | progress; then
        tail -n 40 "$log" >&2
        echo "nibblewave: $what failed; all of it is in $log" >&2
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

cd "$root"
mkdir -p "$build"
exec 9>"$build/.lock" # bench/run and tests/run may be started side by side
! command -v flock >/dev/null || flock 9
configured || configure
step "the build" cmake --build "$build" --parallel "$(nproc)" --target "${@:-all}"
((SECONDS < 5)) || echo "nibblewave: built in $SECONDS s" >&2
