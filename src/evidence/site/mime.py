"""What an executed notebook carries for machines is data, not something to show: MyST-NB is told so.

Without this renderer every effect would be a warning of an unknown MIME type, and the strict build would fail.
"""

from __future__ import annotations

from docutils import nodes
from myst_nb.core.render import MimeData, MimeRenderPlugin, NbElementRenderer

from evidence.library.models import EFFECT_MIME


class EffectMime(MimeRenderPlugin):  # type: ignore[misc]
    """Takes the records of effects and shows nothing: the HTML card beside them is for people."""

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        """No nodes for a record; None for any other type, which leaves it to MyST-NB."""
        return [] if data.mime_type == EFFECT_MIME else None
