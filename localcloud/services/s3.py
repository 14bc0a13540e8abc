"""S3 is moto's, but for the end of a delete marker."""

from __future__ import annotations

from moto.s3.models import FakeDeleteMarker


def _dispose(_marker: FakeDeleteMarker, _garbage: bool = False) -> None:
    """Do nothing: a marker has no content to let go of."""


# Where versions are not kept any more, deleting a key disposes of all its versions, and moto forgot
# that markers are among them: a bucket with markers could not be emptied.
FakeDeleteMarker.dispose = _dispose  # type: ignore[attr-defined]  # that it has none is the point
