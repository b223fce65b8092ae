"""How an entry of the bibliography is set: as pybtex's plain style does, labelled by its key.

Every source has a page with a bibliography of one entry; labels made from names and years would collide there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from pybtex.style.labels import BaseLabelStyle

NAME = "evidence"


class KeyLabels(BaseLabelStyle):  # type: ignore[misc]  # pybtex ships no types
    """The entry's key, which is unique."""

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterator[str]:
        return (entry.key for entry in sorted_entries)


class EvidenceStyle(UnsrtStyle):  # type: ignore[misc]
    default_label_style = "evidence-keys"


def register() -> None:
    """Make the style known to pybtex; a second call changes nothing."""
    register_plugin("pybtex.style.labels", "evidence-keys", KeyLabels)
    register_plugin("pybtex.style.formatting", NAME, EvidenceStyle)
