"""Which registry reads a frame follows from the kind of the frame alone."""

from __future__ import annotations

import pytest

from penstock.errors import NoRegistryForFramingError, SettingsError
from penstock.framing import FrameKind, SchemaKey, encode_frame
from penstock.registry import MemoryRegistry, Registries, load_registries
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


def test_a_first_byte_of_0_is_apicurio_if_it_has_a_registry() -> None:
    key = SchemaKey(FrameKind.APICURIO, b"\0" * 7 + b"\7")

    frame = Registries([_Apicurio()]).decode(encode_frame(key, b"payload"))

    assert frame is not None
    assert frame.key == key


def test_each_kind_has_one_registry() -> None:
    with pytest.raises(
        SettingsError,
        match=r"^memory:// and memory:// both read frames of glue, expected one registry for each",
    ):
        Registries([MemoryRegistry(), MemoryRegistry()])


def test_frames_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(SettingsError, match="read frames that cannot be told apart"):
        Registries([_Confluent(), _Apicurio()])


def test_registries_are_built_from_urls() -> None:
    registries = load_registries(" memory://?compatibility=NONE ")

    assert list(registries) == [FrameKind.GLUE]
    with pytest.raises(SettingsError, match="both read frames of glue"):
        load_registries("memory:// memory://")
    with pytest.raises(SettingsError, match="registry URL begins with ''"):
        load_registries(" ")
