"""Which registry reads a frame follows from the kind of the frame alone."""

from __future__ import annotations

import pytest

from penstock.errors import NoRegistryForFramingError, SettingsError
from penstock.framing import FrameKind, Framing, SchemaKey, encode_frame
from penstock.registry import Registries, RegistrySettings, load_registries
from penstock.registry.memory import MemoryRegistry
from tests.stubs.registries import Reading


class _Confluent(MemoryRegistry):
    kind = FrameKind.CONFLUENT


class _Apicurio(MemoryRegistry):
    kind = FrameKind.APICURIO


def test_a_version_comes_from_the_registry_of_its_kind(reading: Reading) -> None:
    glue = MemoryRegistry()
    version = glue.register("readings", reading()).version
    registries = Registries([_Confluent(), glue])

    assert registries.find(version.key) == version
    assert set(registries) == {FrameKind.GLUE, FrameKind.CONFLUENT}
    assert registries[FrameKind.GLUE] is glue


def test_a_key_of_a_kind_without_a_registry_is_an_error() -> None:
    with pytest.raises(
        NoRegistryForFramingError,
        match="schema confluent:7 is in no registry of this program, expected one of glue",
    ):
        Registries([MemoryRegistry()]).find(SchemaKey.parse("confluent:7"))


def test_a_frame_is_decoded_if_its_kind_has_a_registry() -> None:
    glue, confluent = SchemaKey(FrameKind.GLUE, bytes(16)), SchemaKey.parse("confluent:7")
    only_glue, both = Registries([MemoryRegistry()]), Registries([MemoryRegistry(), _Confluent()])

    for key in (glue, confluent):
        frame = both.decode(encode_frame(key, b"payload"))
        assert frame is not None
        assert (frame.key, frame.payload) == (key, b"payload")
    with pytest.raises(NoRegistryForFramingError, match="schema confluent:7, expected one of glue"):
        only_glue.decode(encode_frame(confluent, b"payload"))
    assert only_glue.read_key(encode_frame(confluent, b"payload")) == confluent
    assert only_glue.decode(None) is None


def test_a_first_byte_of_0_is_confluent_or_apicurio_by_the_bytes_after_it() -> None:
    registries = Registries([_Apicurio(), _Confluent()])

    for text in ("apicurio:7", "confluent:7"):
        frame = registries.decode(encode_frame(SchemaKey.parse(text), b"payload"))
        assert frame is not None
        assert str(frame.key) == text


def test_a_topic_without_frames_has_the_schema_that_the_setting_names() -> None:
    environ = {"PENSTOCK_REGISTRY": "memory://", "PENSTOCK_UNFRAMED": "a=confluent:7, b=apicurio:8"}
    settings = RegistrySettings.from_environ(environ)

    registries = settings.load()

    keys = {"a": SchemaKey.parse("confluent:7"), "b": SchemaKey.parse("apicurio:8")}
    assert registries.framing == Framing(frozenset({FrameKind.GLUE}), keys)
    assert registries.read_key(b"payload", (), "b") == keys["b"]


@pytest.mark.parametrize("text", ["a", "a=", "a=sensor", "=confluent:7", "a'=confluent:7",
                                  "a=confluent:7,a=confluent:8"])  # fmt: skip
def test_a_topic_without_frames_needs_a_schema_id(text: str) -> None:
    with pytest.raises(SettingsError, match=r"expected topic=schema id, separated by commas"):
        RegistrySettings.from_environ({"PENSTOCK_REGISTRY": "memory://", "PENSTOCK_UNFRAMED": text})


def test_each_kind_has_one_registry() -> None:
    with pytest.raises(
        SettingsError,
        match=r"^memory:// and memory:// both read frames of glue, expected one registry for each",
    ):
        Registries([MemoryRegistry(), MemoryRegistry()])


def test_registries_are_built_from_urls() -> None:
    registries = load_registries(" memory://?compatibility=NONE ")

    assert list(registries) == [FrameKind.GLUE]
    with pytest.raises(SettingsError, match="both read frames of glue"):
        load_registries("memory:// memory://")
    with pytest.raises(SettingsError, match="registry URL has no kind before ://"):
        load_registries(" ")


@pytest.mark.parametrize(
    ("urls", "has_them"),
    [
        ("confluent+https://a/apis/ccompat/v7?naming=record apicurio+https://a", True),
        ("glue://a?region=eu-central-1 confluent+http://a/b/apis/ccompat/v6", True),
        ("confluent+https://schemas.example.com apicurio+https://a/apis/ccompat/v7", False),
        ("confluent+https://a/apis/ccompats/v7?ca_file=/apis/ccompat/", False),
        ("apicurio+https://a", False),
    ],
)  # fmt: skip
def test_content_ids_of_headers_are_read_with_apicurios_confluent_api_alone(
    urls: str, has_them: bool
) -> None:
    registries = load_registries(urls)
    headers = [("apicurio.value.contentId", b"\0" * 7 + b"\7")]

    if has_them:
        frame = registries.decode(b"payload", headers)
        assert frame is not None
        assert str(frame.key) == "confluent:7"
    else:
        with pytest.raises(NoRegistryForFramingError, match="found content id 7, expected a regis"):
            registries.decode(b"payload", headers)
