"""Read the blocks of HCL files that `terraform fmt` has formatted, without a full parser of HCL.

A block begins and ends at the left margin; its arguments are indented by two spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^(\w+)((?: \"[^\"]+\")*) \{(?:\}|\n(.*?)^\})", re.MULTILINE | re.DOTALL)
_ARGUMENT = re.compile(r"^  (\w+) += (.*(?:\n(?:   .*|  [\])}].*|))*)", re.MULTILINE)
_LABEL = re.compile(r'"([^"]+)"')
_COMMENT = re.compile(r"^\s*(?:#|//).*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A block such as `variable "region"`, with the text of each of its own arguments."""

    kind: str
    labels: tuple[str, ...]
    body: str
    arguments: dict[str, str]

    @property
    def name(self) -> str:
        """Return the last label."""
        return self.labels[-1] if self.labels else ""


def read_blocks(folder: Path, *kinds: str) -> Iterator[Block]:
    """Yield the blocks of these kinds, or all, from a folder's .tf files, by file name."""
    for path in sorted(folder.glob("*.tf")):
        yield from (one for one in read_file(path) if not kinds or one.kind in kinds)


def read_file(path: Path) -> Iterator[Block]:
    """Yield the blocks of one file."""
    for kind, labels, body in _BLOCK.findall(_COMMENT.sub("", path.read_text())):
        arguments = {name: value.rstrip() for name, value in _ARGUMENT.findall(body)}
        yield Block(kind, tuple(_LABEL.findall(labels)), body, arguments)


def on_one_line(text: str) -> str:
    """Return an expression or a type on one line, with commas between its members."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    joined = lines[0] if lines else ""
    for line in lines[1:]:
        opened, closes = joined[-1] in "{([,", line[0] in "})]"
        tight = joined[-1] in "([" or line[0] in ")]"
        joined += ("" if tight else " " if opened or closes else ", ") + line
    return joined


def module_tables(folder: Path) -> str:
    """Return the tables of a module's inputs and outputs."""
    inputs = [
        f"| `{one.name}` | `{on_one_line(one.arguments.get('type', ''))}` "
        f"| {_default(one)} | {_text(one)} |\n"
        for one in read_blocks(folder, "variable")
    ]
    outputs = [f"| `{one.name}` | {_text(one)} |\n" for one in read_blocks(folder, "output")]
    heads = (
        "| input | type | default | meaning |\n| --- | --- | --- | --- |\n",
        "| output | meaning |\n| --- | --- |\n",
    )
    tables = (
        head + "".join(rows) for head, rows in zip(heads, (inputs, outputs), strict=True) if rows
    )
    return "\n".join(tables)


def _default(variable: Block) -> str:
    default = variable.arguments.get("default")
    return "required" if default is None else f"`{on_one_line(default)}`"


def _text(block: Block) -> str:
    quoted = block.arguments.get("description", '""')
    return quoted.strip('"').replace('\\"', '"').replace("|", "\\|")
