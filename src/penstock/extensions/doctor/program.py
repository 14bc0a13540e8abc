"""The doctor in a program that has its settings alone, such as a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from penstock.errors import SettingsError
from penstock.extensions.doctor.findings import (
    Break,
    NotSeenError,
    Seen,
    State,
    look_until_unseen,
)
from penstock.extensions.doctor.hops.connection import Use, connect, read_registries, use_topics
from penstock.kafka import KafkaSettings, Security

_ELSEWHERE: Final = (
    "a function may not look at the network, functions, tables and keys of its account, nor at the "
    "other one: run `penstock doctor`"
)
_WITHOUT_LOGIN: Final = "the function has no login; its event source mapping has"
_LOGINS: Final = {Security.IAM, Security.SCRAM}
_Look = Callable[[], Iterator[Seen | Break]]


def examine_program(name: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Connect to brokers and registries as the settings in the environment say.

    Returns:
        the findings as JSON, the codes of the first causes, and what was not looked at.
    """
    try:
        settings = KafkaSettings.from_environ(environ)
    except SettingsError as error:
        looks: dict[str, _Look] = {"connection": partial(_fail, str(error))}
    else:
        topic = environ.get("PENSTOCK_TOPIC", "")
        looks = {
            "connection": partial(connect, name, settings),
            "access lists": partial(use_topics, settings, Use(name, [topic]))
            if settings.security in _LOGINS
            else partial(_fail, _WITHOUT_LOGIN),
        }
    urls, schema = (environ.get(f"PENSTOCK_{each}", "") for each in ("REGISTRY", "SCHEMA_NAME"))
    looks["schemas"] = partial(read_registries, urls, schema)
    findings = [each for hop, look in looks.items() for each in _look_at(hop, look)]
    return {
        "findings": findings,
        "causes": [each["code"] for each in findings if each["state"] == State.BROKEN],
        "notLookedAt": _ELSEWHERE,
    }


def _look_at(hop: str, look: _Look) -> Iterator[dict[str, Any]]:
    found, why = look_until_unseen(look)
    for each in found:
        if isinstance(each, Seen):
            yield {"hop": hop, "state": State.OK, "seen": each.what}
        else:
            yield {
                "hop": hop,
                "state": State.BROKEN,
                **{part: getattr(each, part) for part in ("code", "about", "seen", "expected")},
            }
    if why:
        yield {"hop": hop, "state": State.NOT_SEEN, "seen": why}


def _fail(why: str) -> Iterator[Seen | Break]:
    raise NotSeenError(why)
