"""The archive of loaded classes makes brokers start faster; they start without it as well."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from localcloud.brokers import archive
from localcloud.brokers.jvm import ARCHIVE, Jvm


@pytest.mark.parametrize("written", [True, False])
def test_an_archive_is_kept_if_java_has_written_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, written: bool
) -> None:
    """Java writes it at its end, and is killed if that takes too long."""

    def record(directory: Path, _spec: Any, *, jvm: Jvm) -> Any:
        assert jvm.recording
        (directory / "broker-1").mkdir()
        if written:
            (directory / "broker-1" / ARCHIVE).write_text("classes")
        return nullcontext()

    monkeypatch.setattr(archive, "load_jvm", lambda: Jvm(tmp_path))
    monkeypatch.setattr(archive, "BrokerCluster", record)
    assert not archive.prepare_brokers().recording
    assert (tmp_path / ARCHIVE).exists() == written
