"""Settings that are longer than the 4 KB of variables that Lambda takes: they are in an object."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.sinks import ObjectStore

_S3 = "s3://"


def read_stored_settings(environ: Mapping[str, str], *variables: str) -> dict[str, str]:
    """Return the environment, with an object's content for each variable that has its s3:// URL.

    Args:
        environ: the environment.
        variables: the variables that may have a URL.

    Raises:
        ObjectMissingError: the bucket has no such object.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies the object, or does not answer
            (retriable).
    """
    urls = {name: environ[name] for name in variables if environ.get(name, "").startswith(_S3)}
    return {**environ, **{name: _read_file(url) for name, url in urls.items()}}


def _read_file(url: str) -> str:
    bucket = url.removeprefix(_S3).partition("/")[0]
    return ObjectStore(bucket).get(url).decode()
