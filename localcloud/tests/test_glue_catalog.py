"""The lock of the Glue catalog's tables: of two writers that read the same version one wins."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from botocore.exceptions import ClientError
from moto.glue.models import FakeTable

_WRITERS = 2
_COMMITS = 10


@pytest.fixture
def glue(client, request):
    """A client of an account that has the database `lake` for this test only."""
    glue = client("glue")
    glue.create_database(DatabaseInput={"Name": "lake"})
    request.addfinalizer(lambda: glue.delete_database(Name="lake"))  # with its tables
    glue.create_table(DatabaseName="lake", TableInput=_table([]))
    return glue


def _table(commits):
    return {"Name": "readings", "Parameters": {"commits": ",".join(commits)}}


def _read(glue):
    """Read the commits of the table and the version they are in."""
    table = glue.get_table(DatabaseName="lake", Name="readings")["Table"]
    return [each for each in table["Parameters"]["commits"].split(",") if each], table["VersionId"]


def _write(glue, commits, **more):
    glue.update_table(DatabaseName="lake", TableInput=_table(commits), **more)


def test_each_update_makes_the_next_version(glue):
    versions = []
    for commit in ("a", "b"):
        _write(glue, [commit], VersionId=_read(glue)[1])
        versions.append(int(_read(glue)[1]))

    assert versions[1] == versions[0] + 1
    assert _read(glue)[0] == ["b"]
    archived = glue.get_table_versions(DatabaseName="lake", TableName="readings")["TableVersions"]
    assert len(archived) == 3


def test_an_update_of_an_old_version_is_rejected(glue):
    _, version = _read(glue)
    _write(glue, ["a"], VersionId=version)

    with pytest.raises(
        glue.exceptions.ConcurrentModificationException,
        match=r"Update table failed due to concurrent modifications: readings has version 2, not 1",
    ):
        _write(glue, ["b"], VersionId=version)

    assert _read(glue) == (["a"], "2")


def test_an_update_that_names_no_version_is_let_through(glue):
    _write(glue, ["a"])
    _write(glue, ["b"])

    assert _read(glue)[0] == ["b"]


def test_an_update_that_skips_the_archive_keeps_no_older_version(glue):
    for commit in ("a", "b"):
        _write(glue, [commit], VersionId=_read(glue)[1], SkipArchive=True)

    archived = glue.get_table_versions(DatabaseName="lake", TableName="readings")["TableVersions"]
    assert [each["VersionId"] for each in archived] == [_read(glue)[1]] == ["3"]


def test_a_missing_table_is_not_found(glue):
    with pytest.raises(glue.exceptions.EntityNotFoundException, match="Table other not found"):
        glue.update_table(DatabaseName="lake", TableInput={"Name": "other"}, VersionId="1")


def test_two_writers_lose_no_commit(glue, client):
    barrier = Barrier(_WRITERS)

    def write(name):
        """Commit as Iceberg does: read, add, write what was read if nobody was faster."""
        own = client("glue")
        for number in range(_COMMITS):
            barrier.wait()
            while True:
                commits, version = _read(own)
                try:
                    _write(own, [*commits, f"{name}{number}"], VersionId=version, SkipArchive=True)
                    break
                except ClientError as error:
                    assert error.response["Error"]["Code"] == "ConcurrentModificationException"

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(write, "ab"))

    commits, version = _read(glue)
    assert sorted(commits) == sorted(f"{name}{n}" for name in "ab" for n in range(_COMMITS))
    assert int(version) == 1 + _WRITERS * _COMMITS


def test_one_of_concurrent_updates_of_a_version_succeeds(glue, monkeypatch):
    _, version = _read(glue)
    barrier = Barrier(8)
    update = FakeTable.update

    def update_slowly(*arguments):
        """Leave time between the look at the version and its change."""
        time.sleep(0.02)
        update(*arguments)

    monkeypatch.setattr(FakeTable, "update", update_slowly)

    def write(name):
        barrier.wait()
        try:
            _write(glue, [name], VersionId=version)
        except glue.exceptions.ConcurrentModificationException:
            return None
        return name

    with ThreadPoolExecutor(8) as pool:
        winners = [name for name in pool.map(write, "abcdefgh") if name]

    assert (winners, "2") == _read(glue)


@pytest.mark.parametrize("key", ["Columns", "PartitionKeys"])
@pytest.mark.parametrize(
    ("wrong", "place"),
    [({"Name": "n" * 256}, "name"), ({"Comment": "c" * 256}, "comment")],
    ids=["name", "comment"],
)
def test_a_column_that_glue_does_not_take_is_refused(glue, key, wrong, place):
    fine = {"Name": "n" * 255, "Type": "string", "Comment": "c" * 255}

    def write(columns):
        more = {"StorageDescriptor": {key: columns}} if key == "Columns" else {key: columns}
        return {"DatabaseName": "lake", "TableInput": _table([]) | more}

    where = (
        rf"'tableInput\..*{key[:1].lower()}{key[1:]}\.member\.{place}' failed to satisfy constraint"
    )
    for call in (glue.create_table, glue.update_table):
        with pytest.raises(ClientError, match=f"{where}: .* less than or equal to 255") as caught:
            call(**write([fine, fine | wrong]))
        assert caught.value.response["Error"]["Code"] == "ValidationException"
    glue.update_table(**write([fine]))
