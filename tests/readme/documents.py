# SPDX-License-Identifier: MIT
"""The Markdown of the repository: its files, headings, links, sentences and blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +")
TABLE = re.compile(r"^ *\|.*$", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def markdown() -> list[Path]:
    """Every .md, relative to the root; none of a build or of git."""
    found = [path.relative_to(ROOT) for path in ROOT.rglob("*.md")]
    return sorted(path for path in found if not path.parts[0].startswith(("build", ".")))


def readmes() -> list[Path]:
    return [path for path in markdown() if path.name == "README.md"]


def text(path: Path) -> str:
    return (ROOT / path).read_text()


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int  # of its first line of code


def blocks(document: str) -> list[Block]:
    return [Block(m[1], m[2], document[: m.start(2)].count("\n") + 1) for m in FENCE.finditer(document)]


def prose(document: str) -> str:
    """Without blocks of code and comments; the lines keep their numbers."""
    blank = lambda m: "\n" * m[0].count("\n")  # noqa: E731
    return COMMENT.sub(blank, FENCE.sub(blank, document))


def plain(line: str) -> str:
    """As it is read: links by their text, code by its characters."""
    return CODE.sub(r"\1", LINK.sub(r"\1", line))


def links(document: str) -> list[str]:
    return [target for _, target in LINK.findall(CODE.sub("", re.sub(r"\[`([^`]*)`\]", r"[\1]", prose(document))))]


def anchors(document: str) -> set[str]:
    """Anchors of its headings, by GitHub's rule: lower case, no punctuation, blanks to hyphens, repeated ones numbered."""
    seen: dict[str, int] = {}
    out = set()
    for heading in HEADING.findall(FENCE.sub("", document)):
        slug = re.sub(r"[^\w\- ]", "", plain(heading).lower()).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        out.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
    return out


def paragraphs(document: str) -> Iterator[str]:
    """Paragraphs and items of lists; no headings, no tables."""
    lines: list[str] = []
    for line in [*TABLE.sub("", prose(document)).splitlines(), ""]:
        line = re.sub(r"^> ?", "", line)
        if not line.strip() or ITEM.match(line) or line.startswith("#"):
            if lines:
                yield " ".join(lines)
            lines = []
        if line.strip() and not line.startswith("#"):
            lines.append(ITEM.sub("", line).strip())


def sentences(document: str) -> list[str]:
    """A span of code counts as a word."""
    out = []
    for paragraph in paragraphs(document):
        read = CODE.sub("Code", LINK.sub(r"\1", paragraph)).replace("**", "")
        out += re.split(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)\s+(?=[A-Z`(\"'\d])", read)
    return out


def words(sentence: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())
