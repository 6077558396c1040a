# SPDX-License-Identifier: MIT
"""Expressions of a contract with what is known put in: sizes of elements, extents, and for one kernel its parameters."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping

from contract import ELEMENT_BYTES, Family, power
from expressions import EVALUATE, parse

Known = Mapping[str, ast.expr]  # `p.bm`, `extent(a)` -> what stands for it
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
    """What is known of every kernel, and more: bytes of elements, extents of pointers."""
    known = {f"size_{size}": ast.Constant(size) for size in ELEMENT_BYTES.values()} | dict(more)
    return known | {f"extent({p.name})": Substitute(known).visit(parse(p.extent)) for p in f.pointers.values()}


class Substitute(ast.NodeTransformer):
    def __init__(self, known: Known) -> None:
        self.known = known

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Name | ast.Attribute | ast.Call) and (text := ast.unparse(node)) in self.known:
            return copy.deepcopy(self.known[text])
        if isinstance(node, ast.Call):
            return ast.Call(node.func, [self.visit(a) for a in node.args], [])
        return super().visit(node)


def value_of(node: ast.AST) -> object:
    """A constant's value; a list's, of constants; else None."""
    if isinstance(node, ast.Tuple | ast.List):
        values = [value_of(one) for one in node.elts]
        return None if None in values else tuple(values)
    return node.value if isinstance(node, ast.Constant) else None


def holds(node: ast.AST) -> bool | None:
    """Whether a condition is known to hold, or not to."""
    return bool(node.value) if isinstance(node, ast.Constant) else None


class Fold(ast.NodeTransformer):
    """Constants are computed, and what they decide is left out. Values are not negative."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        a, b = value_of(node.left), value_of(node.right)
        if a is not None and b is not None and not (b == 0 and isinstance(node.op, ast.FloorDiv | ast.Mod)):
            value = MATHS[type(node.op)](a, b)
            return node if isinstance(value, int) and value < 0 else ast.Constant(value)
        match node.op:
            case ast.Mult():
                return self._product(node)
            case ast.Add():
                return node.left if b == 0 else node.right if a == 0 else node
            case ast.Sub():
                return node.left if b == 0 else node
            case ast.FloorDiv():
                return self._quotient(node, b)
            case ast.Mod():
                return ast.Constant(0) if b == 1 else node
        return node

    @staticmethod
    def _product(node: ast.BinOp) -> ast.expr:
        """Its constants as one, in front."""
        factors: list[ast.expr] = []

        def gather(part: ast.expr) -> None:
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
                gather(part.left)
                gather(part.right)
            else:
                factors.append(part)

        gather(node)
        constant, others = 1, []
        for factor in factors:
            value = value_of(factor)
            constant, others = (constant * value, others) if value is not None else (constant, [*others, factor])
        parts = [ast.Constant(constant)] * (constant != 1) + others if constant else [ast.Constant(0)]
        out = parts[0]
        for part in parts[1:]:
            out = ast.BinOp(out, ast.Mult(), part)
        return out

    @classmethod
    def _quotient(cls, node: ast.BinOp, by: object) -> ast.expr:
        if by == 1:
            return node.left
        multiple = cls._constant_factor(node.left)
        if by and multiple % by == 0:
            return cls._product(ast.BinOp(ast.Constant(multiple // by), ast.Mult(), cls._without_factor(node.left)))
        return node

    @staticmethod
    def _constant_factor(node: ast.expr) -> int:
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            node = node.left
        value = value_of(node)
        return value if isinstance(value, int) else 1

    @classmethod
    def _without_factor(cls, node: ast.BinOp) -> ast.expr:
        if value_of(node.left) is not None:
            return node.right
        return ast.BinOp(cls._without_factor(node.left), ast.Mult(), node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
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
        first, *rest = unknown
        if all(before[2] is after[0] for before, after in zip(unknown, rest)):
            return ast.Compare(first[0], [op for _, op, _ in unknown], [right for _, _, right in unknown])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)
        left = [part for part in node.values if holds(part) is None]
        if any(holds(part) is decides for part in node.values):
            return ast.Constant(decides)
        return ast.Constant(not decides) if not left else left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        known = holds(node.operand)
        return node if known is None else ast.Constant(not known)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        known = holds(node.test)
        if ast.unparse(node.body) == ast.unparse(node.orelse):
            return node.body
        return node if known is None else node.body if known else node.orelse

    def visit_Call(self, node: ast.Call) -> ast.expr:
        args = [self.visit(a) for a in node.args]
        name, values = node.func.id, [value_of(a) for a in args]
        if name in EVALUATE and None not in values:
            return ast.Constant(EVALUATE[name](*values))
        if name == "ceil_div":
            quotient = self._quotient(ast.BinOp(args[0], ast.FloorDiv(), args[1]), values[1])
            if not (isinstance(quotient, ast.BinOp) and isinstance(quotient.op, ast.FloorDiv)):
                return quotient
        if name == "round_up" and values[1] == 1:
            return args[0]
        return ast.Call(node.func, args, [])


def substituted(text: str | int, known: Known) -> str:
    """The expression in Python with what is known put in; else as it stands."""
    return ast.unparse(Substitute(known).visit(parse(text)))


def folded(text: str | int, known: Known) -> ast.expr:
    return Fold().visit(Substitute(known).visit(parse(text)))


def shown(node: ast.expr) -> str:
    """For people: 2^32 rather than ten digits."""
    return re.sub(r"\b\d{5,}\b", lambda digits: power(int(digits[0])), ast.unparse(node))


INSERTED = re.compile(r"\{([^{}]*?)(:#x)?\}")


def inserted(text: str, write) -> str:
    """Text with `write` of each {expression} in it."""
    return INSERTED.sub(lambda found: "{" + write(found[1]) + (found[2] or "") + "}", text)
