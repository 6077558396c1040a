# SPDX-License-Identifier: MIT
"""build/kernels.cmake: how kernels are made. A family is rendered for a target (gen/render.py), then its .s files are assembled
(gen/assemble.py). Targets: kernels_<gfx>_<family>, kernels_<gfx>, kernels_<family>; hsaco/<gfx>/<symbol>.hsaco is one too."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from catalogue import Kernel, arches_of, shipped
from files import exit_code, write_if_changed

HEAD = """\
# Made by gen/graph.py.
set(b ${CMAKE_BINARY_DIR})
file(CONFIGURE OUTPUT ${b}/assembler.txt CONTENT "${LLVM_CLANG} ${LLVM_VERSION}\\n")
function(nw_family gfx family contract)
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND ${b}/asm/${gfx}/)
  list(TRANSFORM sources APPEND .s)
  add_custom_command(OUTPUT ${b}/asm/${gfx}/${family}.rendered ${sources} ${b}/hsaco/${gfx}/${family}.resources
    COMMAND ${PYTHON} ${CMAKE_SOURCE_DIR}/gen/render.py ${CMAKE_SOURCE_DIR} ${b} --gfx ${gfx} --family ${CMAKE_SOURCE_DIR}/${contract}
    COMMAND ${CMAKE_COMMAND} -E touch ${b}/asm/${gfx}/${family}.rendered
    DEPENDS ${CMAKE_SOURCE_DIR}/${contract}
    DEPFILE ${b}/asm/${gfx}/${family}.d
    COMMENT "Rendering ${family} for ${gfx}" VERBATIM)
  set(objects ${ARGN})
  list(TRANSFORM objects PREPEND ${b}/hsaco/${gfx}/)
  list(TRANSFORM objects APPEND .hsaco)
  add_custom_command(OUTPUT ${objects}
    COMMAND ${PYTHON} ${CMAKE_SOURCE_DIR}/gen/assemble.py ${b} --clang ${LLVM_CLANG} --only ${gfx} ${ARGN}
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
    for (gfx, family), group in itertools.groupby(listed, key=lambda k: (k.gfx, k.family)):
        kernels = list(group)
        contract = kernels[0].contract.path.relative_to(root)
        yield f"nw_family({gfx} {family} {contract.as_posix()} {' '.join(k.symbol for k in kernels)})\n"


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
