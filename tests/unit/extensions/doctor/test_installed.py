"""Extensions bring hops by entry points, which need nothing of the doctor."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from penstock.errors import OperationError
from penstock.extensions.doctor import installed
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side
from penstock.extensions.doctor.hops import HOPS


class _World:
    @staticmethod
    def outputs(side):
        return {"bridge": f"of the {side}"}

    @staticmethod
    def ask(side, service, operation, **words):
        return (str(side), service, operation, words)


def look_at_bridge(outputs, ask):
    yield {"seen": f"{outputs['bridge']}: {ask('lambda', 'get_function', FunctionName='f')}"}
    yield {"code": "c", "about": "a", "seen": "s", "expected": "e", "mend": "m"}


def look_in_vain(outputs, ask):
    raise OperationError("no bridge is known")


@pytest.fixture
def install(monkeypatch):
    """Install a function of this module as a hop of the producer; the last hop."""

    def install_it(name):
        point = EntryPoint("bridges", f"{__name__}:{name}", "penstock.doctor.producer")
        found = {"penstock.doctor.producer": [point], "penstock.doctor.consumer": []}
        monkeypatch.setattr(installed, "entry_points", lambda group: found[group])
        monkeypatch.setattr(EntryPoint, "load", lambda self: globals()[name])
        return installed.list_hops()[-1]

    return install_it


def test_an_installed_hop_yields_what_it_has_seen_and_what_is_broken(install):
    hop = install("look_at_bridge")
    assert (hop.name, hop.side, len(hop.after)) == ("bridges", Side.PRODUCER, len(HOPS))
    asked = ("producer", "lambda", "get_function", {"FunctionName": "f"})
    assert list(hop.look(_World())) == [
        Seen(f"of the producer: {asked}"),
        Break("c", "a", "s", "e", "m"),
    ]


def test_a_hop_that_cannot_look_says_why(install, monkeypatch):
    hop = install("look_in_vain")
    with pytest.raises(NotSeenError, match="no bridge is known"):
        list(hop.look(_World()))

    def fail(self):
        raise SyntaxError("invalid syntax")

    monkeypatch.setattr(EntryPoint, "load", fail)
    with pytest.raises(NotSeenError, match="look_in_vain cannot be loaded: SyntaxError: inva"):
        list(hop.look(_World()))
