"""The Sphinx extension: loads the library once a build and adds roles, directives, formulas, style and script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

from evidence import __version__
from evidence.library.load import load
from evidence.library.project import Project
from evidence.site import bibstyle, maths
from evidence.site.a11y import mend
from evidence.site.content import CONTENT
from evidence.site.directives import DataDirective
from evidence.site.nodes import disclosure
from evidence.site.roles import ROLES
from evidence.site.words import effect_anchor

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    bibstyle.register()
    for name, role in ROLES.items():
        app.add_role(name, role())
    for name in CONTENT:
        app.add_directive(name, DataDirective)
    app.add_node(
        disclosure, html=(visit_disclosure, depart_disclosure), text=(pass_by, pass_by), latex=(pass_by, pass_by)
    )
    app.add_html_math_renderer("mathml", (maths.visit_inline, None), (maths.visit_block, None))
    app.add_css_file("evidence.css")
    app.add_js_file("evidence.js", defer="defer")
    # jupyter-book's own command passes it on although _config.yml leaves its extension out
    app.add_config_value("comments_config", {}, "")
    app.connect("builder-inited", start)
    app.connect("doctree-read", note_cards)
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", finish_page, priority=900)
    app.connect("build-finished", write_index)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}


def start(app: Sphinx) -> None:
    """Load the library; the roles find it on the application."""
    app.evidence_library = load(Project(Path(app.srcdir)))  # type: ignore[attr-defined]
    app.config.html_static_path.append(str(STATIC))


def note_cards(app: Sphinx, doctree: nodes.document) -> None:
    """The cards of an executed notebook become labels, so that every page may link to an effect."""
    docname = app.env.docname
    if not docname.startswith("notebooks/_executed/"):
        return
    labels = app.env.get_domain("std").data["anonlabels"]
    for effect, record in app.evidence_library.records.items():  # type: ignore[attr-defined]
        if record.notebook == docname.rpartition("/")[2]:
            labels[effect_anchor(effect)] = (docname, effect_anchor(effect))


def resolve(app: Sphinx, env: BuildEnvironment, node: nodes.Element, shown: nodes.Element) -> nodes.reference | None:
    """Make a link of `nodes.link`; None, and with it Sphinx's warning, if its target does not exist."""
    if node.get("reftype") != "evidence":
        return None
    target = node["reftarget"]
    if target.startswith("/"):
        docname, anchor = target[1:], ""
    else:
        docname, anchor = env.get_domain("std").data["anonlabels"].get(target, ("", ""))
    if docname not in env.all_docs:
        return None
    return make_refnode(app.builder, node.get("refdoc", env.docname), docname, anchor, shown)


def finish_page(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    if context.get("body"):
        context["body"] = mend(context["body"])


def write_index(app: Sphinx, error: Exception | None) -> None:
    """`index.html` leads to the first page, where the root document has another name."""
    index = Path(app.outdir) / "index.html"
    if error is None and app.builder.name == "html" and app.config.root_doc != "index":
        target = app.builder.get_target_uri(app.config.root_doc)
        index.write_text(
            f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{app.config.html_title}</title>\n'
            f'<meta http-equiv="refresh" content="0; url={target}"></head>\n'
            f'<body><a href="{target}">{app.config.html_title}</a></body>\n</html>\n',
            encoding="utf-8",
        )


def visit_disclosure(self: Any, node: disclosure) -> None:
    self.body.append(f'<details class="ev-note"><summary>{self.encode(node["summary"])}</summary>')


def depart_disclosure(self: Any, node: disclosure) -> None:
    self.body.append("</details>")


def pass_by(self: Any, node: nodes.Node) -> None:
    """Other formats show the remark in full."""
