"""YAML stays text, knows its lines, and refuses what YAML lets pass in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.library.errors import InputError
from evidence.library.yamlsource import parse_yaml, read_yaml

AS_WRITTEN = "no yes on Off null ~ 6.0 6.10 1e-4 0x1F 010 1_000 2025-12-09 12:30".split()  # noqa: SIM905 (one line)


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_scalars_stay_what_the_author_wrote(text: str) -> None:
    assert parse_yaml(f"key: {text}\nlist: [{text}]\n", "f.yml").data == {"key": text, "list": [text]}


def test_keys_stay_text_too() -> None:
    assert parse_yaml("6.0: a\nno: b\n", "f.yml").data == {"6.0": "a", "no": "b"}


def test_a_tag_does_not_turn_text_into_a_number_or_an_object() -> None:
    assert parse_yaml("a: !!int '007'\nb: !!python/name:os.system x\n", "f.yml").data == {"a": "007", "b": "x"}


def test_every_node_has_its_line_and_a_missing_one_the_nearest() -> None:
    found = parse_yaml("# note\nclaims:\n  - id: a\n    says: >-\n      two\n      lines\n  - id: b\n", "f.yml")
    assert found.line(("claims", 0, "says")) == 4
    assert found.line(("claims", 1)) == 7
    assert found.line(("claims", 1, "says", "deeper")) == 7
    assert found.place(("claims", 1, "id")) == "f.yml:7"
    assert found.place() == "f.yml:1"


def test_folded_text_and_empty_values() -> None:
    assert parse_yaml("a: >-\n  one\n  two\nb:\n", "f.yml").data == {"a": "one two", "b": ""}
    assert parse_yaml("# only a comment\n", "f.yml").data == {}


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a: 1\nb: 2\na: 3\n", "f.yml:3", "'a' is given twice"),
        ("x:\n  - {k: 1, k: 2}\n", "f.yml:2", "'k' is given twice"),
        ("a: &x [1]\nb: *x\n", "f.yml:1", "aliases"),
        ("a: &x [*x]\n", "f.yml:1", "aliases"),
        ("? [a, b]\n: c\n", "f.yml:1", "plain text"),
        ("a: b: c\n", "f.yml:1", "not YAML"),
        ("a: 'open\n", "f.yml", "not YAML"),
        ("a: 1\n---\nb: 2\n", "f.yml:2", "not YAML"),
        ("a: \x07\n", "f.yml", "not YAML"),
    ],
)
def test_bad_yaml_is_one_line_with_its_place(text: str, where: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        parse_yaml(text, "f.yml")
    assert str(caught.value).startswith(where)
    assert "\n" not in str(caught.value)


def test_unreadable_files_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_yaml(tmp_path / "none.yml", "none.yml")
    (tmp_path / "latin.yml").write_bytes("a: caf\xe9\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        read_yaml(tmp_path / "latin.yml", "latin.yml")
