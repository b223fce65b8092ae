"""Formulas as MathML, made at build time by docutils: no script and no font has to be fetched or shipped."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(formula: str, *, block: bool, location: object = None) -> str:
    """The formula as `<math>`; one that docutils cannot read is a warning, and is shown as it was typed."""
    try:
        made: str = tex2mathml(formula, as_block=block)
    except (MathError, SyntaxError) as error:
        logger.warning("formula %r: %s", formula, error, location=location, type="evidence", subtype="math")
        return f"<code>{nodes.unescape(formula)}</code>"
    return made


def visit_inline(self: object, node: nodes.math) -> None:
    self.body.append(mathml(node.astext(), block=False, location=node))  # type: ignore[attr-defined]
    raise nodes.SkipNode


def visit_block(self: object, node: nodes.math_block) -> None:
    shown = mathml(node.astext(), block=True, location=node)
    anchor = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="ev-math" tabindex="0" role="group"{anchor}>{shown}</div>')  # type: ignore[attr-defined]
    raise nodes.SkipNode
