"""Change data capture from frames of each kind, which keys have too."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from penstock.framing import FrameKind, SchemaKey
from penstock.registry import Registration, SchemaVersion, VersionStatus
from penstock.schemas import encode
from tests.spark.changes import CdcJob, Source

_SIZES = {FrameKind.APICURIO: 8, FrameKind.CONFLUENT: 4, FrameKind.GLUE: 16}


@dataclass
class _Registry:
    """A registry whose ids are numbers, in frames of a kind."""

    kind: FrameKind
    source: str = "numbers://"
    versions: list[SchemaVersion] = field(default_factory=list)

    def register(self, name, schema):
        for each in self.versions:
            if (each.name, each.schema) == (name, schema):
                return Registration(each, False, None)
        key = SchemaKey(self.kind, (len(self.versions) + 1).to_bytes(_SIZES[self.kind]))
        number = 1 + sum(each.name == name for each in self.versions)
        self.versions.append(
            SchemaVersion(key, name, number, VersionStatus.AVAILABLE, schema, None)
        )
        return Registration(self.versions[-1], True, None)

    def get(self, key):
        return next(each for each in self.versions if each.key == key)


class _InHeaders(CdcJob):
    """A job whose records have their ids in headers, as Apicurio's converter writes them."""

    def frame(self, kind, schema, value):
        return None if value is None else encode(value, schema)

    def head(self, key, value):
        schemas = {"key": key, "value": value}
        return [
            (
                f"apicurio.{kind}.globalId",
                self.registry.register(f"film-{kind}", schema).version.key.id,
            )
            for kind, schema in schemas.items()
            if schema is not None
        ]


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (FrameKind.APICURIO, CdcJob),
        (FrameKind.CONFLUENT, CdcJob),
        # Other tests of capture have these two by day, that of a database the one in headers.
        pytest.param(FrameKind.GLUE, CdcJob, marks=pytest.mark.nightly),
        pytest.param(FrameKind.APICURIO, _InHeaders, marks=pytest.mark.nightly),
    ],
)
def test_a_table_is_equal_from_frames_of_each_kind(spark, lake_folder, tmp_path, kind, form):
    name = f"frames.{kind}_{form.__name__}".lower()
    job, film = form(spark, tmp_path, name, registry=_Registry(kind)), Source()
    for at in (1, 2, 3):
        film.insert(id=at, title="first")
    film.snapshot()
    job.take(job.place(film.log))
    assert job.rows() == film.rows

    film.log.clear()
    film.update(1, rate=2.99)
    film.add_column("length", ["null", "int"])
    film.update(2, id=20, length=86)
    film.delete(3)
    job.take(job.place(film.log))
    assert job.rows() == film.rows
    assert job.errors.read() == {}
