# SPDX-License-Identifier: MIT
"""[words.<size>.<word>] of a contract: facts of each word that a size may have as its value. They are expanded to the size's one_of,
to [let] names (numbers only), and to `<size>.<fact>` in promises. A size `like` another one, as type3 is like type, has its words, with those
facts that its own words have; its [let] names end as the size's does: elements3."""

from __future__ import annotations

import re
from collections.abc import Mapping


class WordTableError(ValueError):
    """An invalid fact of a word."""

    def __init__(self, size: str, word: str, fact: str, what: str) -> None:
        super().__init__(what)
        self.section, self.fact = f"words.{size}.{word}".rstrip("."), fact


def choice(name: str, values: Mapping[str, int | str]) -> str:
    """An expression for the value of the word in `name`. Words of equal value share a condition; the most common value has none."""
    groups: dict[int | str, list[str]] = {}
    for word, value in values.items():
        groups.setdefault(value, []).append(word)
    *others, (last, _) = sorted(groups.items(), key=lambda group: len(group[1]))
    out = repr(last)
    for value, words in others:
        condition = f"{name} == {words[0]!r}" if len(words) == 1 else f"{name} in ({', '.join(map(repr, words))})"
        out = f"{value!r} if {condition} else {out}"
    return f"({out})"


def facts_of(size: str, rows: Mapping[str, Mapping]) -> dict[str, dict[str, int | str]]:
    """Fact -> word -> value; every word has every fact."""
    names = dict.fromkeys(name for row in rows.values() for name in row)
    for word, row in rows.items():
        for name in names:
            if name not in row:
                raise WordTableError(size, word, name, "is missing: other words have it")
        for name, value in row.items():
            if not isinstance(value, (int, str)) or re.search(r"[{}]", str(value)):
                raise WordTableError(size, word, name, f"{value!r} must be a number, or a text without braces")
    return {name: {word: row[name] for word, row in rows.items()} for name in names}


def _rows_of(size: str, words: Mapping[str, Mapping]) -> dict[str, Mapping]:
    """A size's words, beside its own those of the one that it is like."""
    own = {word: row for word, row in words[size].items() if word != "like"}
    if not (other := words[size].get("like")):
        return own
    if other not in words or not own or not size.startswith(other):
        raise WordTableError(size, "", "like", f"'{other}' must have words, be the beginning of {size}, and {size} have a word of its own")
    names = next(iter(own.values()))
    return own | {word: {name: row[name] for name in names if name in row} for word, row in words[other].items()}


def expanded(table: dict) -> dict:
    """A contract without its [words]."""
    table = dict(table)
    words = table.pop("words", {})
    for size in words:
        rows = _rows_of(size, words)
        end = size.removeprefix(words[size].get("like", size))
        facts = facts_of(size, rows)
        sizes = table.get("sizes", {})
        table["sizes"] = {size: {"one_of": list(rows)} | sizes.get(size, {})} | {n: row for n, row in sizes.items() if n != size}
        numbers = {name + end: choice(size, values) for name, values in facts.items() if all(isinstance(v, int) for v in values.values())}
        table["let"] = numbers | table.get("let", {})
        table["promises"] = {key: _inserted(text, size, facts) for key, text in table.get("promises", {}).items()}
    return table


def _inserted(text: str, size: str, facts: Mapping[str, Mapping]) -> str:
    """A promise with the facts in its {expressions} substituted."""

    def expression(found: re.Match) -> str:
        return re.sub(rf"\b{size}\.(\w+)", lambda fact: choice(f"p.{size}", facts[fact[1]]) if fact[1] in facts else fact[0], found[0])

    return re.sub(r"\{[^{}]*\}", expression, text)
