# SPDX-License-Identifier: MIT
"""build/kernels.cmake: build rules of kernels. One rule builds a part of a family (Kernel.part) for all targets of equal facts (gen/kernels.py).
Targets: kernels_<gfx>_<family> and kernels_<family> build all of a family, kernels_<gfx> the library's kernels; each
hsaco/<gfx>/<symbol>.hsaco is one, too. Lists: library_<gfx> and every_<gfx>, files that represent these kernels."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import targets
from catalogue import Kernel, arches_of, shipped
from files import exit_code, write_if_changed

HEAD = """\
# Made by gen/graph.py.
set(b ${CMAKE_BINARY_DIR})
file(CONFIGURE OUTPUT ${b}/assembler.txt CONTENT "${LLVM_CLANG} ${LLVM_VERSION}\\n")
function(nw_kernels part gfx_list contract) # ARGN: gfx/symbol
  string(REPLACE "," ";" all_gfx "${gfx_list}")
  list(GET all_gfx 0 first)
  set(stamp ${b}/asm/${first}/${part}.rendered)
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND ${b}/asm/)
  list(TRANSFORM sources APPEND .s)
  set(objects ${ARGN})
  list(TRANSFORM objects PREPEND ${b}/hsaco/)
  list(TRANSFORM objects APPEND .hsaco)
  set(resources ${all_gfx})
  list(TRANSFORM resources PREPEND ${b}/hsaco/)
  list(TRANSFORM resources APPEND /${part}.resources)
  set(references)
  if(part MATCHES "[.]references$")
    set(references --references)
  endif()
  add_custom_command(OUTPUT ${stamp} ${sources} ${resources} ${objects}
    COMMAND ${NW_GEN_PYTHON} ${CMAKE_SOURCE_DIR}/gen/kernels.py ${CMAKE_SOURCE_DIR} ${b} --family ${CMAKE_SOURCE_DIR}/${contract} ${references}
            --gfx ${gfx_list} --scheduler $<TARGET_FILE:list_schedule> ${NW_GEN_TOOLS}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${CMAKE_SOURCE_DIR}/${contract} ${b}/assembler.txt list_schedule fork_server
    DEPFILE ${b}/asm/${first}/${part}.d
    COMMENT "Kernels of ${part} for ${gfx_list}" VERBATIM)
endfunction()
"""


def files(parts: Iterable[tuple[str, str]]) -> str:
    """The .resources files of these parts: each represents all files of its rule."""
    return " ".join(f"${{b}}/hsaco/{gfx}/{part}.resources" for gfx, part in parts)


def lines(root: Path, listed: list[Kernel]) -> Iterator[str]:
    by_part: dict[str, dict[str, list[Kernel]]] = {}
    for k in listed:
        by_part.setdefault(k.part, {}).setdefault(k.gfx, []).append(k)
    for twins, (part, by_gfx) in itertools.product(targets.twins(arches_of(root)), by_part.items()):
        if of_part := [gfx for gfx in twins if gfx in by_gfx]:
            contract = by_gfx[of_part[0]][0].contract.path.relative_to(root)
            names = (f"{gfx}/{k.symbol}" for gfx in of_part for k in by_gfx[gfx])
            yield f"nw_kernels({part} {','.join(of_part)} {contract.as_posix()} {' '.join(names)})\n"
    yield from target_lines(listed)


def target_lines(listed: list[Kernel]) -> Iterator[str]:
    parts: dict[tuple[str, str], dict[str, bool]] = {}  # (target, family) -> part -> whether it is the library's
    for k in listed:
        parts.setdefault((k.gfx, k.family), {})[k.part] = k.purpose == "library"
    groups: dict[str, list[str]] = {f"kernels_{family}": [] for _, family in parts}
    own: dict[str, list[tuple[str, str]]] = {f"kernels_{gfx}": [] for gfx, _ in parts}  # library parts of families with other parts
    for (gfx, family), of_family in parts.items():
        name = f"kernels_{gfx}_{family}"
        yield f"add_custom_target({name} DEPENDS {files((gfx, part) for part in of_family)})\n"
        groups[f"kernels_{family}"].append(name)
        if all(of_family.values()):
            groups.setdefault(f"kernels_{gfx}", []).append(name)
        else:
            own[f"kernels_{gfx}"] += [(gfx, part) for part, library in of_family.items() if library]
    for name, names in groups.items():
        yield f"add_custom_target({name} DEPENDS {files(own.get(name, []))})\nadd_dependencies({name} {' '.join(names)})\n"
    for gfx in dict.fromkeys(gfx for gfx, _ in parts):
        of_gfx = {part: library for (target, _), of_family in parts.items() if target == gfx for part, library in of_family.items()}
        yield f"set(every_{gfx} {files((gfx, part) for part in of_gfx)})\n"
        yield f"set(library_{gfx} {files((gfx, part) for part, library in of_gfx.items() if library)})\n"


def remove_others(build: Path, listed: list[Kernel]) -> None:
    """Files of kernels, parts of families and targets that are no longer listed."""
    wanted = {(k.gfx, name) for k in listed for name in (k.symbol, k.part)}
    for file in build.glob("objects/*/*"):  # code that no kernel has any more
        if file.stat().st_nlink == 1:
            file.unlink()
    for file in [*build.glob("asm/*/*"), *build.glob("hsaco/*/*")]:
        if (file.parent.name, file.name.rpartition(".")[0]) not in wanted:
            file.unlink()
            if not any(file.parent.iterdir()):
                file.parent.rmdir()


def write_graph(root: Path, build: Path) -> None:
    listed, _ = shipped(root, list(arches_of(root)))
    remove_others(build, listed)
    write_if_changed(build / "kernels.cmake", HEAD + "".join(lines(root, listed)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="the source tree (holds asm/ and gen/)")
    parser.add_argument("build", type=Path, help="where kernels.cmake goes, and asm/ and hsaco/ are")
    options = parser.parse_args()
    return exit_code("graph", lambda: write_graph(options.root, options.build))


if __name__ == "__main__":
    sys.exit(main())
