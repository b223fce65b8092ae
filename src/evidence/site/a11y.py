"""Mends the HTML that docutils, pandas and the theme write, so that it can be read without a mouse or a screen."""

from __future__ import annotations

import html
import re

from evidence.site.words import effect_anchor


def mend(body: str) -> str:
    """A page's body with scopes on table heads, focusable scroll regions, and lists that are lists."""
    body = re.sub(r'<th class="([^"]*\bhead\b)', r'<th scope="col" class="\1', body)
    body = re.sub(r'<th class="([^"]*\bstub\b)', r'<th scope="row" class="\1', body)
    body = re.sub(r'<table [^>]*class="dataframe".*?</table>', dataframe, body, flags=re.S)
    body = re.sub(r'<div class="pst-scrollable-table-container">(.*?</table>)', scroll_region, body, flags=re.S)
    body = re.sub(r'<div class="ev-effect" data-effect="([^"]+)">', effect_card, body)
    # docutils marks the list of citations as a list whose children are no list items
    return re.sub(r' role="(?:list|doc-biblioentry|doc-backlink)"', "", body)


def dataframe(found: re.Match[str]) -> str:
    """A pandas table: heads get their scope, and the empty corner is no head."""
    table = re.sub(r"<th></th>", "<td></td>", found.group())
    head, closing, rest = table.partition("</thead>")
    return head.replace("<th>", '<th scope="col">') + closing + rest.replace("<th>", '<th scope="row">')


def scroll_region(found: re.Match[str]) -> str:
    """What may scroll sideways can be reached and moved by keyboard, and has a name."""
    caption = re.search(r"<caption>(.*?)</caption>", found.group(1), re.S)
    name = " ".join(re.sub(r"<[^>]+>", "", caption.group(1)).split()).rstrip("#") if caption else "Table"
    label = html.escape(html.unescape(name), quote=True)
    opening = f'<div class="pst-scrollable-table-container" role="region" tabindex="0" aria-label="{label}">'
    return opening + found.group(1)


def effect_card(found: re.Match[str]) -> str:
    """The card of an effect gets the id that links lead to, and may be scrolled by keyboard."""
    effect = html.unescape(found.group(1))
    return (
        f'<div class="ev-effect" id="{effect_anchor(effect)}" data-effect="{found.group(1)}" role="region" tabindex="0"'
        f' aria-label="Effect {found.group(1)}">'
    )
