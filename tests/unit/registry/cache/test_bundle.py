"""The bundle on disk: a start without the registry, and what a damaged file does."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import SchemaNotFoundError
from penstock.registry import CachedRegistry, SchemaVersion
from tests.stubs.registries import UNKNOWN_ID, CountedRegistry, Reading, unavailable


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return tmp_path / "schemas.json"


def test_a_bundle_lets_a_start_do_without_the_registry(
    inner: CountedRegistry, known: SchemaVersion, bundle: Path
) -> None:
    CachedRegistry(inner, bundle=bundle).versions("readings")
    inner.down = unavailable

    restarted = CachedRegistry(inner, bundle=bundle)

    assert restarted.get(known.id) == known
    assert restarted.versions("readings") == (known,)


def test_a_bundle_does_not_hide_what_is_new(
    inner: CountedRegistry, known: SchemaVersion, bundle: Path, reading: Reading
) -> None:
    CachedRegistry(inner, bundle=bundle).versions("readings")
    second = inner.register("readings", reading(temperature="long")).version

    assert CachedRegistry(inner, bundle=bundle).versions("readings") == (known, second)


def test_a_bundle_is_replaced_in_one_step(
    inner: CountedRegistry,
    known: SchemaVersion,
    bundle: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    CachedRegistry(inner, bundle=bundle).get(known.id)
    before = bundle.read_text()
    monkeypatch.setattr("penstock.registry._bundle.json.dump", _fail_halfway)

    assert CachedRegistry(inner, bundle=bundle).register("orders", known.schema).created

    assert f"bundle {bundle} is not written: disk full" in caplog.text
    assert bundle.read_text() == before
    assert list(bundle.parent.iterdir()) == [bundle]


def _fail_halfway(content: object, file: Any) -> None:
    file.write('{"format"')
    raise OSError("disk full")


def test_a_file_holds_no_version_twice_and_no_refused_one(
    inner: CountedRegistry, known: SchemaVersion, bundle: Path, reading: Reading
) -> None:
    cached = CachedRegistry(inner, bundle=bundle)
    cached.get(known.id)
    cached.versions("readings")
    with pytest.raises(SchemaNotFoundError):
        cached.get(UNKNOWN_ID)

    content = json.loads(bundle.read_text())

    assert [each["id"] for each in content["versions"]] == [known.id]
    assert content["lists"] == {"readings": [known.id]}
    assert content["source"] == "memory://"
    assert [path.name for path in bundle.parent.iterdir()] == [bundle.name]


def _damaged(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    def damage(text: str) -> str:
        content = json.loads(text)
        change(content)
        return json.dumps(content)

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "is not used: "),
        (lambda _: "[" * 200_000, "is not as written by us: RecursionError"),
        (lambda _: "", "is not used: Expecting value"),
        (lambda _: "[]", "is not used: it is not as written by us: TypeError"),
        (_damaged(lambda content: content.update(format=2)), "its format is 2, expected 1"),
        (
            _damaged(lambda content: content.update(source="glue://plant")),
            "it was written for glue://plant, expected memory://",
        ),
        (_damaged(lambda content: content["versions"][0].pop("arn")), "KeyError"),
        (_damaged(lambda content: content["versions"][0].update(definition="{")), "InvalidSch"),
        (_damaged(lambda content: content["versions"][0].update(status="GOOD")), "'GOOD' is not"),
        (_damaged(lambda content: content["lists"].update(readings=["x"])), "KeyError"),
    ],
)
def test_a_damaged_bundle_is_a_warning_and_is_written_anew(  # noqa: PLR0913, PLR0917  # a row
    inner: CountedRegistry,
    known: SchemaVersion,
    bundle: Path,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[str], str],
    message: str,
) -> None:
    CachedRegistry(inner, bundle=bundle).versions("readings")
    bundle.write_text(damage(bundle.read_text()))

    cached = CachedRegistry(inner, bundle=bundle)

    assert f"bundle {bundle} is not used: " in caplog.text
    assert message in caplog.text
    assert len(cached._versions) == 0
    assert cached.get(known.id) == known
    assert json.loads(bundle.read_text())["versions"][0]["id"] == known.id


def test_a_bundle_that_cannot_be_written_is_a_warning(
    inner: CountedRegistry, known: SchemaVersion, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    nowhere = tmp_path / "missing" / "schemas.json"

    assert CachedRegistry(inner, bundle=nowhere).get(known.id) == known
    assert f"bundle {nowhere} is not written: " in caplog.text
