"""What a user sets with --conf stays."""

from __future__ import annotations

from penstock.spark.session import add_settings, session_settings

_JAVA = "spark.executor.extraJavaOptions"


def test_given_settings_are_kept_and_others_added() -> None:
    given = {"spark.sql.session.timeZone": "Europe/Berlin", "spark.sql.catalog.lake.type": "rest"}
    ours = {**session_settings(), "spark.sql.catalog.lake.type": "glue"}

    added = add_settings(ours, given)

    assert not given.keys() & added.keys()
    assert {**added, **given}.keys() == ours.keys()


def test_java_options_are_appended_to_the_given_ones() -> None:
    own = "-XX:+UseZGC -Dorg.apache.avro.limits.string.maxLength=1000"

    added = add_settings(session_settings(), {_JAVA: own})

    options = added[_JAVA].split()
    assert options[:2] == own.split()
    names = [option.partition("=")[0] for option in options]
    assert len(names) == len(set(names)) == 4
    assert (
        added["spark.driver.extraJavaOptions"]
        == session_settings()["spark.driver.extraJavaOptions"]
    )
