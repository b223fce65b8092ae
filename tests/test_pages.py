"""Markdown as the checks read it: what is prose, where it stands, and which sentence a role belongs to."""

from __future__ import annotations

import pytest

from conftest import MiniBook
from evidence.checks.pages import read_markdown, read_pages, split, without_options
from evidence.library.errors import InputError

PAGE = """---
title: {cite}`front`
---
# Heading {cite}`heading`

A sentence {cite}`one,two` here. Another one
on two lines {claim}`c`.

```python
x = "{cite}`code`"
```

Not a role: `` {cite}`span` ``. <!-- {cite}`comment` -->

% {cite}`line-comment`

:::{note} About {cite}`title`
:class: {cite}`option`

Inside {cite:t}`note`.
:::

```{figure} a.png
:alt: text

Caption {cite}`figure`.
```

```{code-cell}
{cite}`cell`
```

| a | b |
|---|---|
| 5 ms | {cite}`table` |

- item {cite}`item`
"""


def test_roles_are_what_the_reader_will_see_and_stand_on_their_line() -> None:
    page = read_markdown(PAGE, "p.md")
    assert [(role.target, role.place) for role in page.roles] == [
        ("heading", "p.md:4"),
        ("one,two", "p.md:6"),
        ("c", "p.md:7"),
        ("note", "p.md:20"),
        ("figure", "p.md:26"),
        ("table", "p.md:35"),
        ("item", "p.md:37"),
    ]
    assert [key for key, _ in page.citations()] == ["heading", "one", "two", "note", "figure", "table", "item"]


def test_directives_with_arguments() -> None:
    page = read_markdown(PAGE, "p.md")
    assert [(each.name, each.argument, each.place) for each in page.directives] == [
        ("note", "About {cite}`title`", "p.md:17"),
        ("figure", "a.png", "p.md:23"),
        ("code-cell", "", "p.md:29"),
    ]


def test_a_table_row_is_one_sentence() -> None:
    row = next(each for each in read_markdown(PAGE, "p.md").sentences if "5 ms" in each.text)
    assert [role.target for role in row.roles] == ["table"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("See e.g. Smith et al. 2017 and Fig. 3 of No. 5.", ["See e.g. Smith et al. 2017 and Fig. 3 of No. 5."]),
        ("It is 3.5 times v6.0. It ends.", ["It is 3.5 times v6.0. ", "It ends."]),
        ("By J. Doe. Next.", ["By J. Doe. ", "Next."]),
        ("It gains. \ufffc", ["It gains. \ufffc"]),
        ("It gains. \ufffc shows it.", ["It gains. ", "\ufffc shows it."]),
        ("", [""]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split(text)] == sentences


@pytest.mark.parametrize(
    "text",
    [
        "It gains {cite}`a`. <!-- number: why --> Next.",
        "It gains {cite}`a` <!-- number: why -->. Next.",
        "It gains {cite}`a`.\n<!-- number: why -->",
        "It gains. {cite}`a` <!-- number: why -->",
    ],
)
def test_a_comment_belongs_to_the_sentence_before_it(text: str) -> None:
    first = read_markdown(text, "p.md").sentences[0]
    assert first.comments == ["number: why"] and [role.target for role in first.roles] == ["a"]


def test_option_lines_are_blanked_and_lines_keep_their_numbers() -> None:
    assert without_options(":a: 1\n:b: 2\n\ntext: x") == "\n\n\ntext: x"
    assert without_options("---\na: 1\n---\ntext") == "\n\n\ntext"
    assert without_options("text\n:a: 1") == "text\n:a: 1"


def test_generated_pages_are_not_read_and_notebooks_are(mini_book: MiniBook) -> None:
    mini_book.write("book/_generated/x.md", "{cite}`generated`\n")
    pages = {page.name: page for page in read_pages(mini_book.project)}
    assert set(pages) == {"book/intro.md", "book/levers/precision.md", "notebooks/precision.ipynb"}
    assert list(pages["notebooks/precision.ipynb"].citations()) == [
        ("doe2024rounding", "notebooks/precision.ipynb:cell 1")
    ]


def test_a_page_that_is_not_utf8_is_an_input_error(mini_book: MiniBook) -> None:
    (mini_book.root / "book/latin.md").write_bytes("caf\xe9".encode("latin-1"))
    with pytest.raises(InputError, match=r"book/latin\.md: is not UTF-8 at byte 3"):
        read_pages(mini_book.project)
