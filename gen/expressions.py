# SPDX-License-Identifier: MIT
"""The expressions of a family's contract: a small subset of Python's, read by ast, with units, written out as C++.

Integers, names, `p.bm` and `kernel.block` (parameters, facts of the kernel, of the part), + - * // %, ** of constants,
comparisons, and, or, not, `a if c else b`, and the functions of FUNCTIONS. Text is only compared. Values are u64.

Units: a size or a count is in elements, a stride or an extent in bytes, a constant in either. Sums and comparisons
need equal units; a product has at most one factor in bytes; bytes // bytes is a count. Comparisons, and, or, not are
conditions and no operands of arithmetic: Python's `a and b` is a or b, C++'s is 1 or 0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

NUMBER, ELEMENTS, BYTES, TEXT, CONDITION = "number", "elements", "bytes", "text", "condition"

# name: (arguments, C++; units as of a sum, or a unit)
FUNCTIONS = {
    "ceil_div": (2, "ceil_div<u64>", "quotient"),
    "round_up": (2, "round_up<u64>", "like"),
    "min": (2, "std::min<u64>", "like"),
    "max": (2, "std::max<u64>", "like"),
    "bit_ceil": (1, "std::bit_ceil", "like"),
    "log2": (1, "log2_floor", NUMBER),
    "pow2": (1, "pow2", NUMBER),
    "inverse": (1, "inverse", NUMBER),
}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class ExpressionError(ValueError):
    pass


@dataclass(frozen=True)
class Name:
    """Definition of a name: its C++, its unit; if it is text, its possible words."""

    cpp: str
    unit: str = ELEMENTS
    words: Mapping[str, str] | None = None  # text -> C++


Scope = Mapping[str, Name]


def parse(text: str | int) -> ast.expr:
    try:
        return ast.parse(str(text).strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"`{text}` is no expression: {error.msg}") from error


def names_of(text: str | int | ast.expr) -> set[str]:
    """Every name, attributes as `p.bm`."""
    return set(_names(text if isinstance(text, ast.expr) else parse(text)))


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield f"{node.value.id}.{node.attr}"
        return
    if isinstance(node, ast.Call):
        for argument in node.args:
            yield from _names(argument)
        return
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _names(child)


def calls_of(text: str | int, function: str) -> set[str]:
    """The names that `function` is called with: extent(a)."""
    nodes = [n for n in ast.walk(parse(text)) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == function]
    return {n.args[0].id for n in nodes if n.args and isinstance(n.args[0], ast.Name)}


class Writer:
    """Expressions over one scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def cpp(self, text: str | int, unit: str | None = None) -> str:
        """C++ of an expression; an error if its unit differs from `unit`."""
        try:
            code, found = self._write(parse(text))
        except ExpressionError as error:
            raise ExpressionError(f"`{text}`: {error}") from error
        if unit and found not in (unit, NUMBER):
            raise ExpressionError(f"`{text}` is in {found}, {unit} are wanted here")
        return code

    def unit(self, text: str | int) -> str:
        return self._write(parse(text))[1]

    def _write(self, node: ast.expr) -> tuple[str, str]:
        match node:
            case ast.Constant(value=bool()):
                raise ExpressionError("True and False are 1 and 0")
            case ast.Constant(value=int()) if node.value >= 0:
                return (f"u64{{{node.value}}}" if node.value < 2**31 else f"u64{{{node.value}u}}"
                        if node.value < 2**32 else f"u64{{{node.value}ull}}"), NUMBER
            case ast.Constant(value=str()):
                raise ExpressionError(f"'{node.value}': text is only compared, with a parameter")
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.BinOp(op=ast.Pow(), left=ast.Constant(), right=ast.Constant()):
                return self._write(ast.Constant(node.left.value**node.right.value))
            case ast.BinOp() if type(node.op) in OPERATORS:
                return self._arithmetic(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp():
                parts = [self._condition(value) for value in node.values]
                return "(" + (" && " if isinstance(node.op, ast.And) else " || ").join(parts) + ")", CONDITION
            case ast.UnaryOp(op=ast.Not()):
                return f"!({self._condition(node.operand)})", CONDITION
            case ast.IfExp():
                condition = self._condition(node.test)
                (yes, a), (no, b) = self._write(node.body), self._write(node.orelse)
                unit = CONDITION if CONDITION in (a, b) and {a, b} <= {CONDITION, NUMBER} else self._like("if", a, b)
                return f"({condition} ? {yes} : {no})", unit
            case ast.Call():
                return self._call(node)
        raise ExpressionError(f"`{ast.unparse(node)}` is not of the language (see gen/expressions.py)")

    def _condition(self, node: ast.expr) -> str:
        code, unit = self._write(node)
        if unit == TEXT:
            raise ExpressionError(f"`{ast.unparse(node)}` is text, which is neither true nor false: compare it")
        return code

    def _lookup(self, node: ast.expr) -> Name:
        name = ast.unparse(node)
        if name not in self.scope:
            raise ExpressionError(f"{name} is not known here; there are {', '.join(sorted(self.scope))}")
        return self.scope[name]

    def _name(self, node: ast.expr) -> tuple[str, str]:
        found = self._lookup(node)
        return found.cpp, found.unit

    @staticmethod
    def _like(what: str, a: str, b: str) -> str:
        if {TEXT, CONDITION} & {a, b} or (a != b and NUMBER not in (a, b)):
            raise ExpressionError(f"{what} of {a} and {b}")
        return b if a == NUMBER else a

    def _arithmetic(self, node: ast.BinOp) -> tuple[str, str]:
        sign = OPERATORS[type(node.op)]
        (left, a), (right, b) = self._write(node.left), self._write(node.right)
        if sign == "*":
            if a == b == BYTES or {TEXT, CONDITION} & {a, b}:
                raise ExpressionError(f"{a} times {b}")
            unit = BYTES if BYTES in (a, b) else self._like("*", a, b)
        elif sign in "/%" and sign == "/":
            unit = self._quotient(a, b)
        else:
            unit = self._like(sign, a, b)
        return f"({left} {sign} {right})", unit

    def _quotient(self, a: str, b: str) -> str:
        if {TEXT, CONDITION} & {a, b} or (b == BYTES and a == ELEMENTS):
            raise ExpressionError(f"{a} by {b}")
        return ELEMENTS if a == b == BYTES else a

    def _comparison(self, node: ast.Compare) -> tuple[str, str]:
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators):
            parts.append(self._compare(left, op, right))
            left = right
        return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")", CONDITION

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> str:
        if isinstance(op, (ast.In, ast.NotIn)):
            if not isinstance(right, (ast.Tuple, ast.List)):
                raise ExpressionError("`in` needs a list: x in (1, 2)")
            one = "(" + " || ".join(self._compare(left, ast.Eq(), each) for each in right.elts) + ")"
            return f"!{one}" if isinstance(op, ast.NotIn) else one
        if type(op) not in COMPARISONS:
            raise ExpressionError(f"{type(op).__name__} compares nothing here")
        sign = COMPARISONS[type(op)]
        if isinstance(right, ast.Constant) and isinstance(right.value, str):
            name = self._lookup(left)
            if name.words is None or sign not in ("==", "!="):
                raise ExpressionError(f"{ast.unparse(left)} is no text to compare")
            if right.value not in name.words:
                raise ExpressionError(f"{ast.unparse(left)} is never '{right.value}': {', '.join(map(repr, name.words))}")
            return f"({name.cpp} {sign} {name.words[right.value]})"
        (a_code, a), (b_code, b) = self._write(left), self._write(right)
        self._like(sign, a, b) if TEXT not in (a, b) or a != b else None
        return f"({a_code} {sign} {b_code})"

    def _call(self, node: ast.Call) -> tuple[str, str]:
        function = getattr(node.func, "id", "")
        if function == "extent":
            name = f"extent({ast.unparse(node.args[0])})" if len(node.args) == 1 else ""
            if name not in self.scope:
                raise ExpressionError(f"{ast.unparse(node)}: extent needs a pointer argument")
            return self.scope[name].cpp, BYTES
        if function not in FUNCTIONS:
            raise ExpressionError(f"{function or ast.unparse(node.func)} is no function; there are {', '.join(FUNCTIONS)}, extent")
        count, code, unit = FUNCTIONS[function]
        if len(node.args) != count or node.keywords:
            raise ExpressionError(f"{function} has {count} argument{'s' * (count > 1)}")
        parts = [self._write(argument) for argument in node.args]
        if bad := {TEXT, CONDITION} & {found for _, found in parts}:
            raise ExpressionError(f"{function} of a {bad.pop()}")
        if unit == "like":
            unit = parts[0][1]
            for _, other in parts[1:]:
                unit = self._like(function, unit, other)
        elif unit == "quotient":
            unit = self._quotient(parts[0][1], parts[1][1])
        return f"{code}({', '.join(code for code, _ in parts)})", unit


def ordered(what: str, table: Mapping[str, str | int]) -> list[str]:
    """Names of a table of expressions in order of dependency; a cycle is an error."""
    out: list[str] = []
    under_way: list[str] = []

    def visit(name: str) -> None:
        if name in out:
            return
        if name in under_way:
            cycle = " -> ".join([*under_way[under_way.index(name):], name])
            raise ExpressionError(f"{what}: {cycle} is a cycle")
        under_way.append(name)
        for other in sorted(names_of(table[name])):
            if other in table:
                visit(other)
        under_way.pop()
        out.append(name)

    for name in table:
        visit(name)
    return out


# The same functions in Python, for readers of the manifest.
PYTHON = {
    "ceil_div": "lambda a, b: -(-a // b)",
    "round_up": "lambda a, b: -(-a // b) * b",
    "min": "min",
    "max": "max",
    "bit_ceil": "lambda a: 1 << max(a - 1, 0).bit_length()",
    "log2": "lambda a: a.bit_length() - 1",
    "pow2": "lambda a: 1 << a",
    "inverse": "lambda d: min(2**32 // d, 2**32 - 1)",
}
EVALUATE = {name: eval(text) for name, text in PYTHON.items()}
