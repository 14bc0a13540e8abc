"""A transform of a user's own, which a file of Python has."""

import pytest

from penstock.errors import SettingsError
from penstock.spark.query.transform import load_transform


def test_executors_know_the_file_of_a_transform(spark, tmp_path):
    """A function of the file is given to them by name."""
    (tmp_path / "doubled_rows.py").write_text(
        "from pyspark.sql import functions as F\n"
        "@F.udf('bigint')\n"
        "def double(number):\n    return number * 2\n"
        "def transform(rows):\n    return rows.select(double('id').alias('n'))\n"
    )

    transform = load_transform(spark, str(tmp_path / "doubled_rows.py"))

    assert [row.n for row in transform(spark.range(3)).collect()] == [0, 2, 4]
    assert load_transform(spark, str(tmp_path / "doubled_rows.py")) is transform  # the next start


@pytest.mark.parametrize(("name", "text", "problem"), [
    ("absent.py", None, ", which cannot be read: .*does not exist"),
    ("without_function.py", "x = 1\n", r", expected a file of Python with transform\(rows\)"),
    ("hot.readings.py", "x = 1\n", ", expected a file of Python, as NAME.py"),
    ("halved.py", "x =\n", ", which cannot be loaded: SyntaxError: "),
    ("json.py", "x = 1\n", ", and Python has a module json: rename the file"),
])  # fmt: skip
def test_a_file_that_is_no_transform_is_named(spark, tmp_path, name, text, problem):
    if text:
        (tmp_path / name).write_text(text)

    with pytest.raises(SettingsError, match=rf"--transform is .*/{name}{problem}"):
        load_transform(spark, str(tmp_path / name))


def test_a_file_beside_the_program_is_taken(spark, tmp_path, monkeypatch):
    """Its folder is the first place in which Python looks."""
    (tmp_path / "beside_program.py").write_text("def transform(rows):\n    return rows\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert load_transform(spark, f"file://{tmp_path}/beside_program.py")


def test_no_file_is_no_transform(spark):
    assert load_transform(spark, "") is None
