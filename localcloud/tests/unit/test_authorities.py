"""Whom processes trust: the authorities of the servers that are there."""

from __future__ import annotations

from localcloud.authorities import Authorities


def test_a_bundle_holds_each_authority_that_is_there(tmp_path):
    authorities = Authorities()
    for owner in ("a", "b"):
        (tmp_path / owner).write_text(f"{owner}\n")
        authorities.add(owner, tmp_path / owner)
    authorities.add("c", tmp_path / "gone")

    assert authorities.write_bundle(tmp_path).read_text() == "a\nb\n"

    authorities.remove("a")
    authorities.remove("a")
    assert authorities.files() == [tmp_path / "b", tmp_path / "gone"]
    assert authorities.write_bundle(tmp_path).read_text() == "b\n"


def test_without_an_authority_the_bundle_is_empty(tmp_path):
    assert Authorities().write_bundle(tmp_path).read_bytes() == b""
