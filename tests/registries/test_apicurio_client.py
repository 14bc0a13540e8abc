"""Apicurio's own serialiser for Java and ours write what the other reads, in each of its modes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.framing import encode_frame
from penstock.registry import load_registries, load_registry
from penstock.schemas import encode
from systems.java import JavaProgram
from tests.fixtures.apicurio import Apicurio
from tests.stubs.registries import Reading, read_value

pytestmark = pytest.mark.java

_EVENT = {"deviceId": "ä", "temperature": 21}
_PLAIN = {"headers.enabled": "false"}
_ID_HANDLER = "io.apicurio.registry.serde.Legacy4ByteIdHandler"

# The options of the serialiser that differ from its defaults, which write headers, and the size of
# what is before the payload.
_MODES = {
    "8 bytes": (_PLAIN, 9),
    "4 bytes": (_PLAIN | {"id-handler": _ID_HANDLER, "use-id": "contentId"}, 5),
    "as Confluent": (_PLAIN | {"as-confluent": "true", "use-id": "contentId"}, 5),
    "headers": ({}, 0),
}


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProgram]:
    with JavaProgram(Path(__file__).with_name("ApicurioSerde.java"), "apicurio") as program:
        yield program


@pytest.fixture(params=_MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(apicurio: Apicurio, mode: str) -> str:
    return apicurio.confluent_url if _MODES[mode][1] == 5 else apicurio.own_url


@pytest.fixture
def config(apicurio: Apicurio, mode: str) -> dict[str, str]:
    given = {"url": f"{apicurio.url}/apis/registry/v2", "auto-register": "true"}
    return {f"apicurio.registry.{key}": each for key, each in (given | _MODES[mode][0]).items()}


def test_we_read_what_apicurios_serialiser_writes(
    java: JavaProgram, url: str, mode: str, config: dict[str, str], reading: Reading
) -> None:
    versions = [
        (reading(), {"deviceId": "a"}, {"deviceId": "a"}),
        (
            reading(temperature="long"),
            {"deviceId": "ä", "temperature": {"long": 21}},
            _EVENT,
        ),
    ]
    registries = load_registries(url)

    for number, (schema, value, event) in enumerate(versions, 1):
        answer = java.ask(
            op="serialize", topic="readings", schema=json.dumps(schema), value=value, config=config
        )
        payload = bytes.fromhex(answer["payload"])
        headers = {name: bytes.fromhex(each) for name, each in answer["headers"].items()}

        assert len(payload) == _MODES[mode][1] + len(encode(event, schema))
        assert read_value(registries, payload, headers) == ("readings", number, event)


def test_apicurios_deserialiser_reads_what_we_write(
    java: JavaProgram, url: str, mode: str, config: dict[str, str], reading: Reading
) -> None:
    version = load_registry(url).register("readings", reading(temperature="long")).version
    payload = encode(_EVENT, version.schema)
    value, headers = encode_frame(version.key, payload), {}
    if mode == "headers":  # a frame that producers of Penstock do not write
        value, headers = payload, {
            "apicurio.value.globalId": version.key.id.hex(),
            "apicurio.value.encoding": b"BINARY".hex(),
        }  # fmt: skip

    answer = java.ask(
        op="deserialize", topic="readings", payload=value.hex(), headers=headers, config=config
    )

    assert answer["value"] == _EVENT
