# SPDX-License-Identifier: MIT
"""Constant folding of a contract's expressions: element sizes, extents, and for one kernel its parameters are substituted."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping

from expressions import EVALUATE, parse
from family import ELEMENT_BYTES, INSERTED, Family
from rules import power

Known = Mapping[str, ast.expr]  # `p.bm`, `extent(a)` -> its replacement
TRUE, FALSE = ast.Constant(True), ast.Constant(False)
COMPARE = {
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
MATHS = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Pow: lambda a, b: a**b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
}  # fmt: skip


def known_of(f: Family, more: Known = {}) -> dict[str, ast.expr]:
    """Substitutions that hold for every kernel, and `more`: element sizes, extents of pointers."""
    known = {f"size_{size}": ast.Constant(size) for size in ELEMENT_BYTES.values()} | dict(more)
    return known | {f"extent({p.name})": Substitute(known).visit(parse(p.extent)) for p in f.pointers.values()}


def known_for(node: ast.expr, known: Known) -> ast.expr | None:
    match node:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return known.get(f"{name}.{attribute}")
        case ast.Call(func=ast.Name(id="extent"), args=[ast.Name(id=name)]):
            return known.get(f"extent({name})")
    return None


class Substitute(ast.NodeTransformer):
    def __init__(self, known: Known) -> None:
        self.known = known

    def visit(self, node: ast.AST) -> ast.AST:
        if found := known_for(node, self.known):
            return found
        if isinstance(node, ast.Call):
            return ast.Call(node.func, [self.visit(a) for a in node.args], [])
        return self.generic_visit(node)


def value_of(node: ast.expr) -> object:
    """A constant's value; a list's, of constants; else None."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List):
        values = tuple(value_of(one) for one in node.elts)
        return None if None in values else values
    return None


def holds(node: ast.expr) -> bool | None:
    """Whether a condition is known to hold, or not to."""
    return bool(node.value) if isinstance(node, ast.Constant) else None


class Fold:
    """Substitutes known values, folds constants and removes decided branches. Values are not negative. Nodes are
    shared and never changed."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def __call__(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Name() | ast.Attribute():
                return known_for(node, self.known) or node
            case ast.BinOp():
                return _arithmetic(ast.BinOp(self(node.left), node.op, self(node.right)))
            case ast.Compare():
                return _comparison(ast.Compare(self(node.left), node.ops, [self(one) for one in node.comparators]))
            case ast.BoolOp():
                return _junction(ast.BoolOp(node.op, [self(one) for one in node.values]))
            case ast.UnaryOp(op=ast.Not()):
                operand = self(node.operand)
                return ast.UnaryOp(node.op, operand) if holds(operand) is None else ast.Constant(not holds(operand))
            case ast.IfExp():
                return self._conditional(node)
            case ast.Call():
                found = known_for(node, self.known)
                return self(found) if found else _call(ast.Call(node.func, [self(a) for a in node.args], []))
            case ast.Tuple() | ast.List():
                return ast.Tuple([self(one) for one in node.elts], ast.Load())
        return node

    def _conditional(self, node: ast.IfExp) -> ast.expr:
        test = self(node.test)
        if holds(test) is not None:
            return self(node.body if holds(test) else node.orelse)
        body, other = self(node.body), self(node.orelse)
        return body if ast.unparse(body) == ast.unparse(other) else ast.IfExp(test, body, other)


def _arithmetic(node: ast.BinOp) -> ast.expr:
    a, b = value_of(node.left), value_of(node.right)
    if a is not None and b is not None and not (b == 0 and isinstance(node.op, ast.FloorDiv | ast.Mod)):
        value = MATHS[type(node.op)](a, b)
        return node if isinstance(value, int) and value < 0 else ast.Constant(value)
    match node.op:
        case ast.Mult():
            return _product(node)
        case ast.Add():
            return node.left if b == 0 else node.right if a == 0 else node
        case ast.Sub():
            return node.left if b == 0 else node
        case ast.FloorDiv():
            return _quotient(node)
        case ast.Mod():
            return ast.Constant(0) if b == 1 else node
    return node


def _factors(node: ast.expr) -> list[ast.expr]:
    return _factors(node.left) + _factors(node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else [node]


def _constant_and_rest(node: ast.expr) -> tuple[int, list[ast.expr]]:
    constant, rest = 1, []
    for factor in _factors(node):
        value = value_of(factor)
        constant, rest = (constant * value, rest) if value is not None else (constant, [*rest, factor])
    return constant, rest


def _times(constant: int, rest: list[ast.expr]) -> ast.expr:
    """The constant in front."""
    parts = [ast.Constant(constant)] * (constant != 1 or not rest) + rest
    return ast.Constant(0) if constant == 0 else functools.reduce(lambda a, b: ast.BinOp(a, ast.Mult(), b), parts)


def _product(node: ast.BinOp) -> ast.expr:
    return _times(*_constant_and_rest(node))


def _quotient(node: ast.BinOp) -> ast.expr:
    """(6 * n) // 3 is 2 * n; also of ceil_div."""
    by = value_of(node.right)
    constant, rest = _constant_and_rest(node.left)
    return _times(constant // by, rest) if by and constant % by == 0 else node


def _comparison(node: ast.Compare) -> ast.expr:
    left, unknown = node.left, []
    for op, right in zip(node.ops, node.comparators):
        a, b = value_of(left), value_of(right)
        if a is not None and b is not None:
            if not COMPARE[type(op)](a, b):
                return FALSE
        elif not (a == 0 and isinstance(op, ast.LtE)) and not (b == 0 and isinstance(op, ast.GtE)):
            unknown.append((left, op, right))
        left = right
    if not unknown:
        return TRUE
    if all(before[2] is after[0] for before, after in zip(unknown, unknown[1:])):
        return ast.Compare(unknown[0][0], [op for _, op, _ in unknown], [right for _, _, right in unknown])
    return node


def _junction(node: ast.BoolOp) -> ast.expr:
    decides = isinstance(node.op, ast.Or)
    if any(holds(part) is decides for part in node.values):
        return ast.Constant(decides)
    left = [part for part in node.values if holds(part) is None]
    return ast.Constant(not decides) if not left else left[0] if len(left) == 1 else ast.BoolOp(node.op, left)


def _call(node: ast.Call) -> ast.expr:
    name, values = node.func.id, [value_of(a) for a in node.args]
    if name in EVALUATE and None not in values:
        return ast.Constant(EVALUATE[name](*values))
    if name == "ceil_div":
        quotient = ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
        folded_quotient = _quotient(quotient)
        return node if folded_quotient is quotient else folded_quotient
    return node.args[0] if name == "round_up" and values[1] == 1 else node


def substituted(text: str | int, known: Known) -> str:
    """The expression in Python with known values substituted."""
    return ast.unparse(Substitute(known).visit(parse(text)))


_parse_once = functools.lru_cache(maxsize=None)(parse)


def folded(text: str | int, known: Known) -> ast.expr:
    return Fold(known)(_parse_once(text))


def shown(node: ast.expr) -> str:
    """For people: 2^32 rather than ten digits."""
    return re.sub(r"\b\d{5,}\b", lambda digits: power(int(digits[0])), ast.unparse(node))



def inserted(text: str, write) -> str:
    """Text with `write` of each {expression} in it."""
    return INSERTED.sub(lambda found: "{" + write(found[1]) + (found[2] or "") + "}", text)
