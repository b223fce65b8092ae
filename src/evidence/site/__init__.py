"""The site: a Sphinx extension (roles, directives, generated pages) and the build around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """The entry point of Sphinx; nothing of Sphinx is imported before it is called."""
    from evidence.site.extension import setup as setup_extension

    return setup_extension(app)
