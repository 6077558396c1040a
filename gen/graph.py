# SPDX-License-Identifier: MIT
"""build/kernels.cmake: how kernels are made. A family is rendered for targets of equal facts (gen/render.py), then its .s files
are assembled for each (gen/assemble.py). Targets: kernels_<gfx>_<family>, kernels_<gfx>, kernels_<family>;
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
function(nw_render family contract gfx_list) # ARGN: gfx/symbol
  string(REPLACE "," ";" all_gfx "${gfx_list}")
  set(rendered)
  set(resources)
  foreach(gfx ${all_gfx})
    list(APPEND rendered ${b}/asm/${gfx}/${family}.rendered)
    list(APPEND resources ${b}/hsaco/${gfx}/${family}.resources)
  endforeach()
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND ${b}/asm/)
  list(TRANSFORM sources APPEND .s)
  list(GET all_gfx 0 first)
  add_custom_command(OUTPUT ${rendered} ${sources} ${resources}
    COMMAND ${NW_GEN_PYTHON} ${CMAKE_SOURCE_DIR}/gen/render.py ${CMAKE_SOURCE_DIR} ${b} --gfx ${gfx_list} --family ${CMAKE_SOURCE_DIR}/${contract}
    COMMAND ${CMAKE_COMMAND} -E touch ${rendered}
    DEPENDS ${CMAKE_SOURCE_DIR}/${contract}
    DEPFILE ${b}/asm/${first}/${family}.d
    COMMENT "Rendering ${family} for ${gfx_list}" VERBATIM)
endfunction()
function(nw_assemble gfx family)
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND ${b}/asm/${gfx}/)
  list(TRANSFORM sources APPEND .s)
  set(objects ${ARGN})
  list(TRANSFORM objects PREPEND ${b}/hsaco/${gfx}/)
  list(TRANSFORM objects APPEND .hsaco)
  add_custom_command(OUTPUT ${objects}
    COMMAND ${NW_GEN_PYTHON} ${CMAKE_SOURCE_DIR}/gen/assemble.py ${b} --clang ${LLVM_CLANG} --lld ${LLVM_LLD} --only ${gfx} ${ARGN}
    DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/gen/assemble.py ${b}/assembler.txt
    COMMENT "Assembling ${family} for ${gfx}" VERBATIM)
  set(resources_${gfx} ${resources_${gfx}} ${b}/hsaco/${gfx}/${family}.resources PARENT_SCOPE)
  add_custom_target(kernels_${gfx}_${family} DEPENDS ${objects} ${b}/hsaco/${gfx}/${family}.resources)
  foreach(group kernels_${gfx} kernels_${family})
    if(NOT TARGET ${group})
      add_custom_target(${group})
    endif()
    add_dependencies(${group} kernels_${gfx}_${family})
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
            yield f"nw_render({family} {contract.as_posix()} {','.join(of_family)} {' '.join(names)})\n"
        for gfx in of_family:
            yield f"nw_assemble({gfx} {family} {' '.join(k.symbol for k in by_gfx[gfx])})\n"


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
