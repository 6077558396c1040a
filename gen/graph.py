# SPDX-License-Identifier: MIT
"""build/kernels.cmake: how kernels are made: those of a family for targets of equal facts at a time (gen/kernels.py). Targets: kernels_<gfx>_<family>, kernels_<gfx>, kernels_<family>;
hsaco/<gfx>/<symbol>.hsaco is one too."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import targets
from catalogue import Kernel, arches_of, shipped
from files import exit_code, write_if_changed

HEAD = """\
# Made by gen/graph.py.
set(b ${CMAKE_BINARY_DIR})
file(CONFIGURE OUTPUT ${b}/assembler.txt CONTENT "${LLVM_CLANG} ${LLVM_VERSION}\\n")
function(nw_kernels family contract gfx_list) # ARGN: gfx/symbol
  string(REPLACE "," ";" all_gfx "${gfx_list}")
  list(GET all_gfx 0 first)
  set(stamp ${b}/asm/${first}/${family}.rendered)
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND ${b}/asm/)
  list(TRANSFORM sources APPEND .s)
  set(objects ${ARGN})
  list(TRANSFORM objects PREPEND ${b}/hsaco/)
  list(TRANSFORM objects APPEND .hsaco)
  set(resources ${all_gfx})
  list(TRANSFORM resources PREPEND ${b}/hsaco/)
  list(TRANSFORM resources APPEND /${family}.resources)
  add_custom_command(OUTPUT ${stamp} ${sources} ${resources} ${objects}
    COMMAND ${NW_GEN_PYTHON} ${CMAKE_SOURCE_DIR}/gen/kernels.py ${CMAKE_SOURCE_DIR} ${b} --gfx ${gfx_list} --family ${CMAKE_SOURCE_DIR}/${contract}
            --scheduler $<TARGET_FILE:list_schedule> ${NW_GEN_TOOLS}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${CMAKE_SOURCE_DIR}/${contract} ${b}/assembler.txt list_schedule fork_server
    DEPFILE ${b}/asm/${first}/${family}.d
    COMMENT "Kernels of ${family} for ${gfx_list}" VERBATIM)
  foreach(gfx ${all_gfx})
    set(resources_${gfx} ${resources_${gfx}} ${b}/hsaco/${gfx}/${family}.resources PARENT_SCOPE)
    set(of_gfx ${objects})
    list(FILTER of_gfx INCLUDE REGEX /${gfx}/)
    add_custom_target(kernels_${gfx}_${family} DEPENDS ${of_gfx} ${b}/hsaco/${gfx}/${family}.resources)
    foreach(group kernels_${gfx} kernels_${family})
      if(NOT TARGET ${group})
        add_custom_target(${group})
      endif()
      add_dependencies(${group} kernels_${gfx}_${family})
    endforeach()
  endforeach()
endfunction()
"""


def lines(root: Path, listed: list[Kernel]) -> Iterator[str]:
    by_family: dict[str, dict[str, list[Kernel]]] = {}
    for k in listed:
        by_family.setdefault(k.family, {}).setdefault(k.gfx, []).append(k)
    for twins, (family, by_gfx) in itertools.product(targets.twins(arches_of(root)), by_family.items()):
        of_family = [gfx for gfx in twins if gfx in by_gfx]
        if of_family:
            contract = by_gfx[of_family[0]][0].contract.path.relative_to(root)
            names = (f"{gfx}/{k.symbol}" for gfx in of_family for k in by_gfx[gfx])
            yield f"nw_kernels({family} {contract.as_posix()} {','.join(of_family)} {' '.join(names)})\n"


def remove_others(build: Path, listed: list[Kernel]) -> None:
    """Files of kernels, families and targets that are listed no more."""
    wanted = {(k.gfx, name) for k in listed for name in (k.symbol, k.family)}
    for file in [*build.glob("asm/*/*"), *build.glob("hsaco/*/*")]:
        if (file.parent.name, file.name.partition(".")[0]) not in wanted:
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
