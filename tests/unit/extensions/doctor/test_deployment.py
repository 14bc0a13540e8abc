"""The contract is that of the consumer's root, of a file, or of the producer's root."""

from __future__ import annotations

import json

import pytest

from penstock.errors import OperationError
from penstock.extensions.doctor import deployment
from penstock.extensions.doctor.deployment import read_deployment
from penstock.extensions.doctor.findings import Side

_CONTRACT = {
    "brokers": {},
    "registry": {},
    "producer_account_id": "111111111111",
    "region": "eu-central-1",
}


@pytest.fixture
def outputs(monkeypatch):
    """Put out two contracts in the producer's root, and an account in the consumer's."""
    found = {
        "producer": {"contracts": {"analytics": _CONTRACT, "billing": _CONTRACT}},
        "consumer": {"platform": {"account_id": "222222222222"}},
    }
    monkeypatch.setattr(deployment, "read_outputs", lambda root: found[root.name])
    return found


def _write(folder, contract):
    folder.mkdir(exist_ok=True)
    path = folder / "contract.auto.tfvars.json"
    path.write_text(json.dumps({"contract": contract}))
    return path


def test_the_consumers_root_has_the_contract(tmp_path, outputs):
    root = tmp_path / "consumer"
    _write(root, _CONTRACT)
    found = read_deployment(root, None, None, None)
    assert found.account_of(Side.CONSUMER) == "222222222222"
    assert found.account_of(Side.PRODUCER) == "111111111111"
    assert (found.region, found.folders[Side.CONSUMER]) == ("eu-central-1", str(root))


def test_a_contract_alone_tells_no_account_of_the_consumer(tmp_path):
    found = read_deployment(None, _write(tmp_path, _CONTRACT), None, None)
    assert (found.account_of(Side.CONSUMER), found.outputs) == ("", {})


def test_one_of_several_consumers_is_chosen_by_name(tmp_path, outputs):
    root = tmp_path / "producer"
    with pytest.raises(OperationError, match=r"analytics, billing, expected one; .* --name"):
        read_deployment(None, None, root, None)
    assert read_deployment(None, None, root, "billing").contract == _CONTRACT
    with pytest.raises(OperationError, match="found no consumer 'sales'"):
        read_deployment(None, None, root, "sales")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "a value in it has another type or form"),
        ("{}", "found no `contract`"),
        ('{"contract": 7}', "a value in it has another type or form"),
        ('{"contract": {"brokers": {}}}', "found no `registry`"),
    ],
)
def test_a_file_that_is_no_contract_is_refused(tmp_path, text, problem):
    path = tmp_path / "contract.json"
    path.write_text(text)
    with pytest.raises(OperationError) as caught:
        read_deployment(None, path, None, None)
    assert str(caught.value) == (
        f"the contract {path} cannot be used, expected what `penstock contract` writes: {problem}"
    )
