"""Pictures that everyone can read: words for those who cannot see them, colours for both pages, units, citations."""

from __future__ import annotations

import base64
import html.parser
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from evidence.lab import plot
from evidence.lab.plot import Picture, bound, cited, figure, label, spread

ALT = 'The speed-up rises with the matrix size & passes the <cited> "2.5"'
X, Y = ("matrix size", "rows"), ("speed-up", "×")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Picture]]:
    """What the notebook would display."""
    pictures: list[Picture] = []
    monkeypatch.setattr("IPython.display.display", pictures.append)
    yield pictures


def draw(alt: str = ALT, x: Any = X, y: Any = Y, **options: Any) -> None:
    with figure(alt, x, y, **options) as ax:
        ax.plot([64, 128, 256], [0.5, 1.9, 3.9], label="measured")
        cited(ax, 2.5, "cited: 2.5×")
        bound(ax, 2.0, "bound")


class Images(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.found.append(dict(attrs))


def images(page: str) -> list[dict[str, str | None]]:
    parser = Images()
    parser.feed(page)
    return parser.found


def svg_of(image: dict[str, str | None]) -> str:
    return base64.b64decode(str(image["src"]).removeprefix("data:image/svg+xml;base64,")).decode()


def test_the_output_has_an_image_for_each_page_colour_with_the_words(shown: list[Picture]) -> None:
    draw()
    bundle = shown[0]._repr_mimebundle_()
    light, dark = images(bundle["text/html"])
    assert light["alt"] == dark["alt"] == ALT == bundle["text/plain"]
    assert "only-light" in str(light["class"]) and "only-dark" in str(dark["class"])
    assert plot.SERIES["light"][0] in svg_of(light) and plot.SERIES["dark"][0] in svg_of(dark)
    assert plot.PAGE["dark"] in svg_of(dark) and plot.PAGE["light"] not in svg_of(dark)


def test_no_colour_of_the_light_page_stays_on_the_dark_one(shown: list[Picture]) -> None:
    with figure(ALT, X, Y) as ax:
        for index in range(len(plot.SERIES["light"])):
            ax.plot([1, 2], [index, index + 1], label=str(index))
        cited(ax, (1, 2), "range")
    colours = set(re.findall(r"#[0-9a-f]{6}", shown[0].dark))
    allowed = {plot.PAGE["dark"], plot.INK["dark"], plot.FAINT["dark"], plot.CITED["dark"], *plot.SERIES["dark"]}
    # Matplotlib's own black strokes nothing that is seen: it is the default of an empty group.
    assert colours <= allowed | {"#000000"}, colours - allowed


def contrast(one: str, other: str) -> float:
    """The ratio of relative luminances as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("page", ["light", "dark"])
def test_text_and_lines_stand_out_on_their_page(page: str) -> None:
    background = plot.PAGE[page]
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast(plot.INK[page], background) >= 7
    assert min(contrast(colour, background) for colour in (*plot.SERIES[page], plot.CITED[page])) >= 4.5


def seen_by(kind: str, colour: str) -> np.ndarray:
    """A colour as CIELAB, as it looks without one kind of cone (Viénot, Brettel and Mollon 1999, in linear light)."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
    if kind != "none":
        share, shift = {"protan": (0.11238, 0.00401), "deutan": (0.29275, -0.02234)}[kind]
        mixed = share * r + (1 - share) * g
        r, g, b = mixed, mixed, max(0.0, b + shift * (r - g))
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = to_xyz @ [r, g, b] / [0.9505, 1.0, 1.089]
    fx, fy, fz = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize("page", ["light", "dark"])
@pytest.mark.parametrize("kind", ["none", "protan", "deutan"])
def test_the_first_five_series_differ_for_every_kind_of_colour_vision(page: str, kind: str) -> None:
    assert np.linalg.norm(seen_by("none", "#ff0000") - seen_by("none", "#00ff00")) > 100
    assert np.linalg.norm(seen_by("deutan", "#c00000") - seen_by("deutan", "#607000")) < 25, "red and olive"
    seen = [seen_by(kind, colour) for colour in plot.SERIES[page][:5]]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 25


def test_series_differ_by_their_marker_too(shown: list[Picture]) -> None:
    with figure(ALT, X, Y) as ax:
        lines = [ax.plot([1, 2], [0, index])[0] for index in range(6)]
    assert len({line.get_marker() for line in lines}) == 6 == len({line.get_color() for line in lines})


@pytest.mark.parametrize("alt", ["", "plot", "speed against size", "   "])
def test_words_are_required(alt: str, shown: list[Picture]) -> None:
    with pytest.raises(ValueError, match="say in a sentence"):
        draw(alt)
    assert shown == []


@pytest.mark.parametrize("wrong", [("speed-up", ""), ("", "×"), ("speed-up", " ")])
def test_a_quantity_without_a_unit_is_refused(wrong: tuple[str, str], shown: list[Picture]) -> None:
    with pytest.raises(ValueError, match="needs a quantity and a unit"):
        draw(y=wrong)


def test_numbers_on_an_axis_of_names_are_refused(shown: list[Picture]) -> None:
    with pytest.raises(ValueError, match="holds numbers"):
        draw(x=("arm", None))
    with figure(ALT, ("arm", None), Y) as ax:
        ax.plot([0, 1], [1, 2])
        ax.set_xticks([0, 1], ["bf16", "fp32"])
    assert len(shown) == 1


def test_units_are_on_the_axes_and_a_pure_number_has_none(shown: list[Picture]) -> None:
    with figure(ALT, ("rows", "1"), ("time", "ms"), title="A title") as ax:
        ax.plot([1, 2], [3, 4])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rows", "time (ms)")
    with figure(ALT, [X, ("time", "s")], Y, panels=2) as axes:
        label(axes[1], ("depth", "layers"), ("loss", "nats"))
    assert [a.get_xlabel() for a in axes] == ["matrix size (rows)", "depth (layers)"]
    assert axes[1].get_ylabel() == "loss (nats)"


def test_panels_and_labels_must_agree(shown: list[Picture]) -> None:
    with pytest.raises(ValueError, match=r"zip\(\)"):
        draw(x=[X, X, X], panels=2)


def test_what_is_cited_stands_beside_what_was_measured(shown: list[Picture]) -> None:
    with figure(ALT, X, Y) as ax:
        ax.plot([1, 2], [1, 3], label="measured")
        cited(ax, 2.5, "cited: 2.5×")
        cited(ax, (3, 2), "cited: 2 to 3×")
        cited(ax, 1.5, "cited size", axis="x")
    labels = ax.get_legend_handles_labels()[1]
    assert {"measured", "cited: 2.5×", "cited: 2 to 3×", "cited size"} == set(labels)
    assert [line.get_linestyle() for line in ax.lines[1:]] == ["--", "--"]
    assert ax.get_legend() is not None and ax.patches[0].get_y() == 2.0 and ax.patches[0].get_height() == 1.0


def test_spread_shows_every_sample_and_the_interval(shown: list[Picture]) -> None:
    with figure(ALT, X, Y) as ax:
        spread(ax, 1, [1.0, 2.0, 3.0], "arm", color="C0")
        spread(ax, 2, [5.0], color="C1")
    assert [len(line.get_xdata()) for line in ax.lines if line.get_alpha()] == [3, 1]
    low, high = ax.containers[0].lines[2][0].get_segments()[0][:, 1]
    assert (low, high) == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-3)
    assert ax.get_legend_handles_labels()[1] == ["arm"]


def test_the_same_picture_is_the_same_bytes(shown: list[Picture]) -> None:
    draw()
    draw()
    assert shown[0] == shown[1]


def test_a_legend_placed_by_hand_stays_where_it_is(shown: list[Picture]) -> None:
    with figure(ALT, X, Y) as ax:
        ax.plot([1, 2], [3, 4], label="measured")
        mine = ax.legend(loc="lower left", fontsize=7)
    assert ax.get_legend() is mine
    with figure(ALT, X, Y) as ax:
        ax.plot([1, 2], [3, 4], label="measured")
    assert ax.get_legend() is not None, "without one of their own, labels get one"


def test_an_error_while_drawing_shows_nothing(shown: list[Picture]) -> None:
    with pytest.raises(RuntimeError, match="broke"), figure(ALT, X, Y):
        raise RuntimeError("broke")
    assert shown == []


def build(folder: Path, outputs: Sequence[dict[str, str]]) -> str:
    """A page that myst-nb renders from a notebook with these outputs."""
    from sphinx.application import Sphinx

    cells = [
        nbformat.v4.new_markdown_cell("# Page"),
        nbformat.v4.new_code_cell(
            "draw()", outputs=[nbformat.v4.new_output("display_data", data=data) for data in outputs]
        ),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(notebook, folder / "index.ipynb")
    (folder / "conf.py").write_text("extensions = ['myst_nb']\nnb_execution_mode = 'off'\n")
    app = Sphinx(str(folder), str(folder), str(folder / "out"), str(folder / "doctrees"), "html", status=None)
    app.build()
    return (folder / "out" / "index.html").read_text(encoding="utf-8")


def test_the_words_reach_the_page_that_the_book_shows(shown: list[Picture], tmp_path: Path) -> None:
    draw()
    found = images(build(tmp_path, [shown[0]._repr_mimebundle_()]))
    pictures = [image for image in found if str(image.get("src")).startswith("data:image/svg")]
    assert [image["alt"] for image in pictures] == [ALT, ALT]
