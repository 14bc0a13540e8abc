"""A contract is chosen by the consumer's name; a name that is not there is refused."""

from __future__ import annotations

import pytest

from tools.outputs import OutputError
from tools.write_contract import choose_contract, main


def test_a_contract_is_that_of_the_consumer() -> None:
    assert choose_contract({"anna": {"topics": ["a"]}, "ben": {}}, "anna") == {"topics": ["a"]}


@pytest.mark.parametrize(("contracts", "known"), [({"anna": {}}, "anna"), ({}, "none")])
def test_an_unknown_consumer_is_refused_with_those_there_are(contracts, known) -> None:
    with pytest.raises(OutputError, match=f"no consumer 'ben', only {known}; add it to"):
        choose_contract(contracts, "ben")


@pytest.mark.parametrize("words", [[], [""]])
def test_a_name_that_is_not_given_is_asked_for(words, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["write_contract.py", *words])

    assert main() == 1
    assert capsys.readouterr().err == (
        "found no name of a consumer, expected CONSUMER=analytics or such\n"
    )
