#!/bin/bash
# SPDX-License-Identifier: MIT
# setup.sh [bench]: installs through apt what the build and the tests lack, or what a run of the bench needs alone; silent
# and quick when nothing is missing.
# An equal from elsewhere counts: ROCm's LLVM and headers, any Python >= 3.11 with jinja2 and pytest.
set -euo pipefail
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

llvm_min=20    # gen/tools.cmake asks for the same
llvm_tested=22 # taken where apt offers several
python_min="3, 11"
rocm=${ROCM_PATH:-/opt/rocm}

# Debian's package   what shows that it, or its equal, is there
required=(
    "g++                command g++"
    "cmake              command cmake"
    "ninja-build        command ninja"
    "git                command git"
    "llvm               llvm $llvm_min"
    "python3-jinja2     python jinja2, pytest"
    "python3-pytest     python jinja2, pytest"
    "libamdhip64-dev    header hip/hip_runtime_api.h"
    "libtbb-dev         header tbb/tbb.h"
    "libcli11-dev       header CLI/CLI.hpp"
    "libfmt-dev         header fmt/core.h"
    "zlib1g-dev         header zlib.h"
    "libzstd-dev        header zstd.h"
    "nlohmann-json3-dev header nlohmann/json.hpp"
    "libtomlplusplus-dev header toml++/toml.h"
    "doctest-dev        header doctest/doctest.h"
    "libbenchmark-dev   header benchmark/benchmark.h"
)
# The tests need these, too. LLVM's headers are 500 MB with what they depend on.
tests=(
    "llvm-dev           llvm_headers $llvm_min"
)
# Installed along with the others, never a reason to call apt: without ccache builds are slower,
# without clang-format the style test skips, without MPFR the random instruction tests do, without
# matplotlib the bench makes no page with plots. Together they take as long as the rest.
optional=(
    "ccache             command ccache"
)
optional_tests=(
    "clang-format-14    command clang-format-14"
    "libmpfr-dev        header mpfr.h"
    "python3-matplotlib module matplotlib"
)

say() { echo "setup.sh: $*" >&2; }

die() {
    say "$*"
    exit 1
}

have_command() { command -v "$1" >/dev/null; }

have_header() {
    local dir
    for dir in /usr/include /usr/local/include "$rocm/include"; do
        [[ -e $dir/$1 ]] && return
    done
    return 1
}

# What bench/report.py runs by.
have_module() { /usr/bin/python3 -c "import $1" &>/dev/null; }

# A Python with all these modules; the candidates are those of gen/tools.cmake.
have_python() {
    local python
    for python in /usr/bin/python3 /usr/local/bin/python3 python3 python3.{19..11}; do
        "$python" -c "import sys, $1; sys.exit(sys.version_info < ($python_min))" &>/dev/null && return
    done
    return 1
}

have_llvm() { any_llvm "$1" whole_llvm; }
have_llvm_headers() { any_llvm "$1" headers_of; }

# An LLVM of that version or newer of which $2 is true.
any_llvm() {
    local config version
    for config in /usr/lib/llvm-*/bin/llvm-config "$rocm/llvm/bin/llvm-config" $(type -P llvm-config); do
        version=$("$config" --version 2>/dev/null) || continue
        if ((${version%%.*} >= $1)) && "$2" "$config"; then
            return
        fi
    done
    return 1
}

# clang and lld, and the shared library.
whole_llvm() {
    local bin version
    bin=$("$1" --bindir)
    version=$("$1" --version)
    [[ -x $bin/clang && -x $bin/ld.lld ]] && {
        compgen -G "$("$1" --libdir)/libLLVM*.so" || compgen -G "/usr/lib/*/libLLVM-${version%%.*}.so"
    } >/dev/null
}

headers_of() { [[ -e $("$1" --includedir)/llvm/Object/ELFObjectFile.h ]]; }

# The packages of the rows given that are not there, on one line.
lacking() {
    local row package kind what
    for row in "$@"; do
        read -r package kind what <<<"$row"
        "have_$kind" "$what" || printf '%s ' "$package"
    done
}

is_root() { ((EUID == 0)); }

root() {
    if is_root; then
        "$@"
    else
        sudo "$@"
    fi
}

apt() {
    # No fsync of each file: a machine that loses power meanwhile installs again.
    root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
        -o Dpkg::Options::=--force-unsafe-io "$@"
}

known_llvms() { apt-cache pkgnames llvm- | sed -n 's/^llvm-\([0-9]*\)$/\1/p'; }

offered() { apt-cache show --no-all-versions "$1" &>/dev/null; }

# The newest LLVM that apt offers, but the tested one if that is among them.
offered_llvm() {
    known_llvms | sort -n |
        awk -v min="$llvm_min" -v tested="$llvm_tested" \
            '$1 == tested { found = $1; exit } $1 >= min { found = $1 } END { print found }'
}

# Reads `missing`, fills `install`; false if apt knows no such package.
choose() {
    local package major
    install=()
    for package in $missing; do
        if [[ $package != llvm* ]]; then
            offered "$package" || return
            install+=("$package")
            continue
        fi
        major=$(offered_llvm)
        [[ $major ]] || return
        if [[ $package == llvm ]]; then
            install+=("clang-$major" "lld-$major" "llvm-$major")
        else
            install+=("llvm-$major-dev")
        fi
    done
}

# Debian 12 has a new LLVM in its security suite only, which mirrors keep beside the main one.
security_source() {
    local site
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Codename: bookworm' | sed q)
    if [[ $site == */debian ]]; then
        echo "the line \`deb $site-security bookworm-security main\`"
    else
        echo "a source that has clang-$llvm_tested, lld-$llvm_tested and llvm-$llvm_tested"
    fi
}

# Says what `choose` did not find.
refuse() {
    local package source
    for package in $missing; do
        source="a source that has it"
        if [[ $package == llvm* ]]; then
            [[ -z $(offered_llvm) ]] || continue
            package="LLVM >= $llvm_min"
            source=$(security_source)
        elif offered "$package"; then
            continue
        fi
        die "apt offers no $package: add $source to /etc/apt/sources.list, then run ./setup.sh again."
    done
}

main() {
    local missing package install=() needed=("${required[@]}") wanted=("${optional[@]}")
    case ${1-} in
    "") needed+=("${tests[@]}") wanted+=("${optional_tests[@]}") ;;
    bench) ;;
    *) die "$1: unknown; \`./setup.sh\` is for all, \`./setup.sh bench\` for the bench alone." ;;
    esac
    missing=$(lacking "${needed[@]}")
    [[ $missing ]] || return 0
    have_command apt-get ||
        die "no apt here; install what is missing (Debian's names; llvm is clang, lld and the library >= $llvm_min): $missing"
    is_root || have_command sudo ||
        die "only root can install $missing- run it as root, or install sudo."

    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    if ! choose; then
        run "$log" apt update
        choose || refuse
    fi
    for package in $(lacking "${wanted[@]}"); do
        if offered "$package"; then
            install+=("$package")
        fi
    done
    say "apt installs" "${install[@]}"
    if ! apt install --no-install-recommends "${install[@]}" >"$log" 2>&1 </dev/null; then
        run "$log" apt update # the package lists may be older than the mirror
        run "$log" apt install --no-install-recommends "${install[@]}"
    fi
    configure_again
    missing=$(lacking "${needed[@]}")
    [[ -z $missing ]] || die "apt installed everything, yet these are not found: $missing"
}

# What a configured build did not find may be there now: its next run looks again.
configure_again() {
    local cache=${BASH_SOURCE[0]%/*}/build/CMakeCache.txt
    [[ ! -f $cache ]] || touch "$cache"
}

# Runs a command quietly; if it fails, shows the end of what it said and stops.
run() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 20 "$log" >&2
    die "\`$*\` failed."
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then # tests/rules/test_setup.py sources it
    main "$@"
fi
