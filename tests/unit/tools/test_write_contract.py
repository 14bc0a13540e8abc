"""A contract is chosen by the consumer's name; a name that is not there is refused."""

from __future__ import annotations

import pytest

from tools.write_contract import ContractError, choose_contract, main, read_contracts


def test_a_contract_is_that_of_the_consumer() -> None:
    assert choose_contract({"anna": {"topics": ["a"]}, "ben": {}}, "anna") == {"topics": ["a"]}


@pytest.mark.parametrize(("contracts", "known"), [({"anna": {}}, "anna"), ({}, "none")])
def test_an_unknown_consumer_is_refused_with_those_there_are(contracts, known) -> None:
    with pytest.raises(ContractError, match=f"no consumer 'ben', only {known}; add it to"):
        choose_contract(contracts, "ben")


def test_a_root_that_was_not_applied_has_no_contracts(tmp_path) -> None:
    with pytest.raises(ContractError, match="has no output `contracts`; apply it first"):
        read_contracts(tmp_path)


def test_what_terraform_says_is_passed_on(tmp_path) -> None:
    (tmp_path / "main.tf").write_text("not Terraform")
    with pytest.raises(ContractError, match=r"terraform output of .* failed: .*Error"):
        read_contracts(tmp_path)


@pytest.mark.parametrize("words", [[], [""]])
def test_a_name_that_is_not_given_is_asked_for(words, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["write_contract.py", *words])

    assert main() == 1
    assert capsys.readouterr().err == (
        "found no name of a consumer, expected CONSUMER=analytics or such\n"
    )
