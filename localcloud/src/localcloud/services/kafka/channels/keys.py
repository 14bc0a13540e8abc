"""The keys of delivered objects: AWS's template with variables, and what is appended to it.

Amazon MSK Developer Guide, "Output key template".
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from localcloud.services.kafka.model import bad_request

_DEFAULT = (
    "!{channel-id}/!{topic-name}/year=!{yyyy}/month=!{MM}/day=!{dd}/hour=!{HH}/"
    "!{topic-name}+!{partition-id}+!{kafka-offset}"
)
_TIMES = {"yyyy": "%Y", "YY": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M"}
_TOKENS = ("sequence-number", "kafka-offset")
_NAMES = {"channel-id", "topic-name", "partition-id", *_TOKENS, *_TIMES}
_VARIABLE = re.compile(r"!\{([^}]*)\}")
_LITERAL = re.compile(r"[a-zA-Z0-9/_\-.+=]*")
_MAX_LENGTH = 1024


def check_template(storage: Mapping[str, Any]) -> None:
    """Raise AwsError for a template that breaks one of AWS's rules."""
    template = storage.get("OutputKeyTemplate")
    if template is None:
        return
    names = _VARIABLE.findall(template)
    tokens = [name for name in names if name in _TOKENS]
    problems = {
        "longer than 1024 characters with its prefix": (
            len(storage.get("OutputPrefix", "")) + len(template) > _MAX_LENGTH
        ),
        "a path that leaves its folder": (
            ".." in template or "./" in template or template.startswith("/")
        ),
        "a / at its end": template.endswith("/"),
        "an unknown variable": not set(names) <= _NAMES,
        "a character that is not allowed": not _LITERAL.fullmatch(_VARIABLE.sub("", template)),
        "not exactly one of !{sequence-number} and !{kafka-offset}": len(set(tokens)) != 1,
        "!{kafka-offset} without !{partition-id}": (
            "kafka-offset" in tokens and "partition-id" not in names
        ),
        "no such variable behind its last /": not any(
            f"!{{{token}}}" in template.rpartition("/")[2] for token in _TOKENS
        ),
    }
    for problem, found in problems.items():
        if found:
            raise bad_request(f"InvalidParameter: outputKeyTemplate; it has {problem}")


def make_key(storage: Mapping[str, Any], values: Mapping[str, str], at: datetime) -> str:
    """Return the key of an object with a unique end, as AWS appends one."""
    times = {name: at.strftime(form) for name, form in _TIMES.items()}
    template = storage.get("OutputKeyTemplate", _DEFAULT)
    filled = _VARIABLE.sub(lambda found: {**times, **values}[found[1]], template)
    return f"{storage.get('OutputPrefix', '')}{filled}-000000-{secrets.token_hex(6)}"
