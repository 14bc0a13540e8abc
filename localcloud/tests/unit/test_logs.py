"""The logs of localcloud by their names."""

from __future__ import annotations

import os

from localcloud.command.logs import follow_log


def test_a_log_is_found_while_a_job_deletes_its_folder(tmp_path, monkeypatch):
    (tmp_path / "jobs/run/work/packages").mkdir(parents=True)
    (tmp_path / "jobs/run.log").write_text("one\ntwo\n")
    listed = os.scandir

    def forget(path):
        if str(path).endswith("packages"):
            raise FileNotFoundError(path)
        return listed(path)

    monkeypatch.setattr("os.scandir", forget)

    assert list(follow_log(None, tmp_path, "run", once=True)) == ["one", "two"]
