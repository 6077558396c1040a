# SPDX-License-Identifier: MIT
"""Templates of asm/, and which of them a kernel is made of."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import jinja2


class Loader(jinja2.FileSystemLoader):
    """Remembers what it loaded."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.loaded: dict[str, str] = {}

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        source = super().get_source(environment, template)
        self.loaded[template] = source[0]
        return source


@functools.cache  # compiled templates are kept: a process renders many kernels
def environment(root: Path, build: Path | None = None) -> jinja2.Environment:
    cache = None
    if build:
        (build / "templates").mkdir(parents=True, exist_ok=True)
        cache = jinja2.FileSystemBytecodeCache(str(build / "templates"))
    return jinja2.Environment(
        loader=Loader(root / "asm"), undefined=jinja2.StrictUndefined, bytecode_cache=cache,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
