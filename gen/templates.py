# SPDX-License-Identifier: MIT
"""Loads templates of asm/ and records which templates and which sides of their conditions a kernel uses (gen/cover.py)."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from pathlib import Path

import jinja2
from jinja2 import nodes


class Loader(jinja2.FileSystemLoader):
    """A loader that records loaded templates."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.loaded: dict[str, str] = {}

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        source = super().get_source(environment, template)
        self.loaded[template] = source[0]
        return source


class Environment(jinja2.Environment):
    """Records in `taken` the sides taken: template and number."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.taken: set[str] = set()
        self.globals["taken__"] = self._take

    def _take(self, side: str, value: object = "") -> object:
        self.taken.add(side)
        return value

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        sides = (f"{name}:{number}" for number in itertools.count())

        def take(*value: nodes.Expr) -> nodes.Call:
            return nodes.Call(nodes.Name("taken__", "load"), [nodes.Const(next(sides)), *value], [], None, None)

        for condition in list(tree.find_all((nodes.If, nodes.For))):
            for body in (condition.body, condition.else_):
                body.insert(0, nodes.ExprStmt(take()))
        for condition in list(tree.find_all(nodes.CondExpr)):
            condition.expr1 = take(condition.expr1)
            condition.expr2 = take(condition.expr2) if condition.expr2 else None
        return tree


@functools.cache  # compiled templates are kept: a process renders many kernels
def environment(root: Path, build: Path | None = None) -> Environment:
    cache = None
    if build:
        folder = build / "compiled_templates"
        folder.mkdir(parents=True, exist_ok=True)
        cache = jinja2.FileSystemBytecodeCache(str(folder))
    return Environment(
        loader=Loader(root / "asm"), undefined=jinja2.StrictUndefined, bytecode_cache=cache,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
