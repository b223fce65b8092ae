"""Pages as the checks see them: roles, directives and sentences with their places, out of MyST Markdown.

The text is parsed by the same parser that the site uses, so that code, comments and the insides of directives are what
they will be on the page, and nothing is guessed from the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from evidence.library.harvest import read_notebook, source_of
from evidence.library.project import Project, read_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LITERAL = frozenset(
    {"code-cell", "code-block", "code", "math", "literalinclude", "mermaid", "raw", "eval-rst", "bibliography"}
)
"""Directives whose content is not prose."""

DIRECTIVE = re.compile(r"^\{(?P<name>[^}\s]+)\}\s*(?P<argument>.*)$")
ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|et al|cf|vs|approx|[Ff]igs?|[Ss]ecs?|[Nn]os?|[Ee]q)|\b[A-Z])\.$")
BOUNDARY = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[A-Z0-9“\"'‘(\[\uFFFC])")
ROLE_MARK = "\ufffc"
"""Stands where a role stood, so that a sentence may begin with one; no number is read out of it."""


class Role(NamedTuple):
    """``{name}`target` ``."""

    name: str
    target: str
    place: str

    @property
    def is_citation(self) -> bool:
        return self.name.split(":")[0] in ("cite", "nocite", "citet", "citep")

    @property
    def keys(self) -> list[str]:
        """The citation keys of a `cite` role."""
        return [key.strip() for key in self.target.split(",") if key.strip()]


class Directive(NamedTuple):
    """A fenced directive with its argument."""

    name: str
    argument: str
    place: str


@dataclass
class Sentence:
    """One sentence, or one row of a table. Code is blanked; formulas are in plain characters."""

    place: str
    text: str = ""
    roles: list[Role] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    def place_at(self, position: int) -> str:
        """The place of a character of `text`."""
        name, _, line = self.place.rpartition(":")
        return f"{name}:{int(line) + self.text.count(chr(10), 0, position)}" if line.isdigit() else self.place


@dataclass
class Page:
    """A chapter, or the Markdown of a notebook."""

    name: str
    roles: list[Role] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)

    def citations(self) -> Iterator[tuple[str, str]]:
        """(key, place) of every citation."""
        for role in self.roles:
            if role.is_citation:
                yield from ((key, role.place) for key in role.keys)


def read_pages(project: Project) -> list[Page]:
    """Every page that people write: `book/**/*.md` but for what is generated, and the Markdown of the notebooks.

    Raises:
        InputError: a page or notebook that cannot be read.
    """
    pages = []
    for path in sorted(project.book.rglob("*.md")):
        if project.generated not in path.parents:
            name = project.relative(path)
            pages.append(read_markdown(read_text(path, name), name))
    for stem in project.notebook_names():
        path = project.notebook(stem)
        notebook = read_notebook(path, project.relative(path))
        page = Page(notebook.name)
        for index, cell in enumerate(notebook.cells):
            if cell.get("cell_type") == "markdown":
                _Reader(page, _always(notebook.place(index))).read(source_of(cell), 0)
        pages.append(page)
    return pages


def read_markdown(text: str, name: str) -> Page:
    """One Markdown page; places are lines of the file."""
    page = Page(name)
    _Reader(page, lambda line: f"{name}:{line}").read(text, 0)
    return page


def _always(place: str) -> Callable[[int], str]:
    return lambda line: place


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.colon_fence import colon_fence_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin
    from mdit_py_plugins.myst_blocks import myst_block_plugin
    from mdit_py_plugins.myst_role import myst_role_plugin

    parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin).use(colon_fence_plugin)
    return parser.use(dollarmath_plugin).use(myst_block_plugin).use(myst_role_plugin)


class _Reader:
    """Walks the tokens of a text and fills a page."""

    def __init__(self, page: Page, place: Callable[[int], str]) -> None:
        self.page, self.place = page, place
        self.row: Sentence | None = None

    def read(self, text: str, offset: int) -> None:
        """`offset`: lines before this text, where it is the content of a directive."""
        for token in _parser().parse(text):
            line = offset + (token.map[0] if token.map else 0) + 1
            if token.type == "inline":
                self.inline(token.children or [], line)
            elif token.type == "tr_open":
                self.row = Sentence(self.place(line))
            elif token.type == "tr_close" and self.row:
                self.page.sentences.append(self.row)
                self.row = None
            elif token.type in ("fence", "colon_fence"):
                self.directive(token, line)
            elif token.type == "html_block" and self.page.sentences:
                # A comment on a line of its own belongs to what it follows.
                self.page.sentences[-1].comments += comments(token.content)

    def directive(self, token: Token, line: int) -> None:
        found = DIRECTIVE.match(token.info.strip())
        if not found:
            return
        self.page.directives.append(Directive(found["name"], found["argument"].strip(), self.place(line)))
        if found["name"] not in LITERAL:
            self.read(without_options(token.content), line)

    def inline(self, children: Sequence[Token], line: int) -> None:
        """One paragraph, heading, list item or table cell."""
        text = ""
        events: list[tuple[int, Role | str]] = []
        for child in children:
            if child.type in ("softbreak", "hardbreak"):
                line += 1
                text += "\n"
            elif child.type == "myst_role":
                role = Role(child.meta["name"], child.content, self.place(line))
                self.page.roles.append(role)
                events.append((len(text), role))
                text += ROLE_MARK
            elif child.type == "html_inline":
                events += [(len(text), each) for each in comments(child.content)]
            elif child.type == "math_inline":
                text += plain_maths(child.content)
            elif child.type == "code_inline":
                text += "`code`"
            elif child.type == "text":
                text += child.content
        first = line - text.count("\n")
        self.sentences(text, events, first)

    def sentences(self, text: str, events: list[tuple[int, Role | str]], line: int) -> None:
        if self.row is not None:
            parts, made = [(0, len(text))], [self.row]
            self.row.text += f" | {text}"
        else:
            parts = split(text)
            made = [Sentence(self.place(line + text.count("\n", 0, start)), text[start:end]) for start, end in parts]
            self.page.sentences += made
        for position, event in events:
            # A comment or citation right after the full stop still belongs to the sentence before it.
            owner = max((i for i, (start, _) in enumerate(parts) if start <= position), default=0)
            if isinstance(event, Role):
                made[owner].roles.append(event)
            else:
                if owner and not text[parts[owner][0] : position].strip():
                    owner -= 1
                made[owner].comments.append(event)


def split(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of a paragraph."""
    parts, start = [], 0
    for found in BOUNDARY.finditer(text):
        if not ABBREVIATION.search(text[start : found.start() + 1]):
            parts.append((start, found.end()))
            start = found.end()
    rest = text[start:]
    if parts and not rest.strip(f" \n.,;()[]{ROLE_MARK}"):
        # Citations after the last full stop belong to the sentence that they follow.
        return [*parts[:-1], (parts[-1][0], len(text))]
    return [*parts, (start, len(text))]


def comments(html: str) -> list[str]:
    """The texts of the HTML comments in a piece of HTML."""
    return [each.strip() for each in re.findall(r"<!--(.*?)-->", html, re.S)]


def plain_maths(formula: str) -> str:
    """A formula with the commands that matter to numbers and units as characters."""
    for command, character in (("\\times", "×"), ("\\%", "%"), ("\\,", " "), ("\\;", " "), ("{,}", ",")):
        formula = formula.replace(command, character)
    return formula


def without_options(content: str) -> str:
    """A directive's content with its option lines blanked, so that lines keep their numbers."""
    lines = content.split("\n")
    if lines and lines[0].strip() == "---":
        end = next((i for i, each in enumerate(lines[1:], 1) if each.strip() == "---"), 0)
        count = end + 1 if end else 0
    else:
        count = next((i for i, each in enumerate(lines) if not re.match(r"\s*:[\w-]+:", each)), len(lines))
    return "\n".join([""] * count + lines[count:])
