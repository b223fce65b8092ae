"""One way to draw: labelled axes with units, colours that everyone can tell apart, light and dark, alternative text.

A notebook writes

    with figure("Time per product falls …", x=("matrix size", "rows"), y=("speed-up", "×")) as ax:
        ax.plot(sizes, ratios, "o-", label="measured")
        cited(ax, 2.5, "cited: 2.5×")

and the picture appears below the cell as two `<img>`, one for each page colour, both with the text as `alt`.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evidence.lab.stats import mean_interval

Label = tuple[str, str | None]
"""A quantity and its unit; the unit of a pure number is `1`, and None says that the axis holds names."""

PAGE = {"light": "#ffffff", "dark": "#121212"}
INK = {"light": "#24292f", "dark": "#e3e6ea"}
FAINT = {"light": "#d0d4d9", "dark": "#3a3f45"}
SERIES = {
    "light": ("#1755ed", "#66391e", "#127d6e", "#bb01a2", "#866604", "#4b4b4b"),
    "dark": ("#4b7af1", "#c66126", "#0dde93", "#c55798", "#fec50d", "#b9bec4"),
}
"""Each has a contrast of at least 4.5 with its page, and the first five stay apart for every kind of colour vision
(CIE76 differences of 28 and more, found by search); markers tell the series apart besides."""
CITED = {"light": "#6a3d9a", "dark": "#cab2ff"}

STYLE = """<style>
.ev-figure{margin:0;overflow-x:auto}.ev-figure img{max-width:100%;height:auto;padding:0!important}
.ev-figure img.only-dark{display:none}
html[data-theme=dark] .ev-figure img.only-light,body[data-jp-theme-light=false] .ev-figure img.only-light{display:none}
html[data-theme=dark] .ev-figure img.only-dark,body[data-jp-theme-light=false] .ev-figure img.only-dark{display:inline}
html[data-theme=dark] .text_html:has(>.ev-figure){background:none!important}
</style>"""
"""Travels with each picture, so that it looks right in Jupyter, on the site, and in a file by itself."""


@dataclass(frozen=True)
class Picture:
    """A drawn figure as SVG for the light page and for the dark one, with its alternative text."""

    light: str
    dark: str
    alt: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.alt}

    def html(self) -> str:
        """Two images, of which the page's colours hide one."""
        images = "".join(
            f'<img class="only-{theme} dark-light" alt="{html.escape(self.alt)}" src="{_data_uri(svg)}">'
            for theme, svg in (("light", self.light), ("dark", self.dark))
        )
        return f'{STYLE}<div class="ev-figure">{images}</div>'


@contextmanager
def figure(
    alt: str,
    x: Label | Sequence[Label],
    y: Label | Sequence[Label],
    *,
    title: str = "",
    panels: int = 1,
    size: tuple[float, float] = (6.4, 3.6),
) -> Iterator[Any]:
    """Yield axes to draw on (a list of them for several panels); the picture is displayed at the end.

    Args:
        alt: what the picture shows, in a sentence that serves a reader who cannot see it: required.
        x, y: quantity and unit of the axes; one for all panels, or one for each.
        size: of one panel, in inches.

    Raises:
        ValueError: no alternative text, a missing unit, or numbers on an axis that was said to hold names.
    """
    with drawn(alt, x, y, title=title, panels=panels, size=size) as (made, axes):
        yield axes
    from IPython.display import display

    display(made[0])  # type: ignore[no-untyped-call]


@contextmanager
def drawn(
    alt: str,
    x: Label | Sequence[Label],
    y: Label | Sequence[Label],
    *,
    title: str = "",
    panels: int = 1,
    size: tuple[float, float] = (6.4, 3.6),
) -> Iterator[tuple[list[Picture], Any]]:
    """As `figure`, for a page instead of a notebook: the picture stands in the list when the block ends."""
    if len(alt.split()) < 4:
        raise ValueError("alt: say in a sentence what the picture shows")
    made: list[Picture] = []
    with rc_context(_settings()):  # type: ignore[arg-type]
        fig = Figure(figsize=(size[0] * panels, size[1]), layout="constrained")
        axes = [fig.add_subplot(1, panels, index + 1) for index in range(panels)]
        for ax, x_label, y_label in zip(axes, _each(x, panels), _each(y, panels), strict=True):
            label(ax, x_label, y_label)
        if title:
            fig.suptitle(title)
        yield made, (axes[0] if panels == 1 else axes)
        _finish(fig, axes, _each(x, panels), _each(y, panels))
        made.append(render(fig, alt))


def label(ax: Axes, x: Label, y: Label) -> None:
    """Name both axes, with units."""
    for set_label, (name, unit) in ((ax.set_xlabel, x), (ax.set_ylabel, y)):
        if not name.strip() or (unit is not None and not unit.strip()):
            raise ValueError("an axis needs a quantity and a unit: '1' for a pure number, None where it holds names")
        set_label(name if unit in (None, "1") else f"{name} ({unit})")


def cited(ax: Axes, value: float | Sequence[float], text: str, *, axis: str = "y") -> None:
    """Draw what the literature gives beside what was measured: a dashed line, or a band for a range."""
    if isinstance(value, Sequence):
        band = ax.axhspan if axis == "y" else ax.axvspan
        band(min(value), max(value), color=CITED["light"], alpha=0.25, linewidth=0, label=text)
    else:
        line = ax.axhline if axis == "y" else ax.axvline
        line(value, color=CITED["light"], linestyle=(0, (6, 3)), linewidth=1.5, label=text)


def bound(ax: Axes, value: float, text: str, *, axis: str = "y") -> None:
    """Draw the limit that was fixed before measuring: a dotted line."""
    line = ax.axhline if axis == "y" else ax.axvline
    line(value, color=INK["light"], linestyle=":", linewidth=1.2, label=text)


def spread(ax: Axes, x: float, samples: Sequence[float], text: str = "", *, color: str, log: bool = False) -> None:
    """Draw every sample faintly and the mean with its 95 % interval (geometric where `log`)."""
    found = mean_interval(samples, log=log)
    ax.plot([x] * len(samples), samples, "o", color=color, alpha=0.35, markersize=4, linewidth=0)
    low, high = (found.estimate if v is None else v for v in (found.low, found.high))
    ax.errorbar(
        [x],
        [found.estimate],
        yerr=[[found.estimate - low], [high - found.estimate]],
        fmt="D",
        color=color,
        markersize=6,
        capsize=5,
        label=text or None,
    )


def render(fig: Figure, alt: str) -> Picture:
    """Draw once, in the light page's colours, and recolour for the dark page."""
    buffer = io.StringIO()
    fig.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    light = buffer.getvalue()
    dark = light
    pairs = [(each["light"], each["dark"]) for each in (PAGE, INK, FAINT, CITED)]
    for old, new in [*pairs, *zip(SERIES["light"], SERIES["dark"], strict=True)]:
        dark = dark.replace(old, new)
    return Picture(light, dark, alt)


def _finish(fig: Figure, axes: Sequence[Axes], xs: Sequence[Label], ys: Sequence[Label]) -> None:
    for ax in axes:
        if ax.get_legend_handles_labels()[1] and ax.get_legend() is None:
            ax.legend()
    fig.draw_without_rendering()
    for ax, x, y in zip(axes, xs, ys, strict=True):
        for axis, (name, unit) in ((ax.xaxis, x), (ax.yaxis, y)):
            if unit is None and all(_is_number(tick.get_text()) for tick in axis.get_ticklabels()):
                raise ValueError(f"axis {name!r} was said to hold names and holds numbers: give its unit")


def _is_number(text: str) -> bool:
    try:
        float(text.replace("−", "-") or 0)
    except ValueError:
        return False
    return True


def _each(one_or_all: Label | Sequence[Label], panels: int) -> list[Label]:
    if len(one_or_all) == 2 and isinstance(one_or_all[0], str):
        return [one_or_all] * panels  # type: ignore[list-item]
    return list(one_or_all)  # type: ignore[arg-type]


def _settings() -> dict[str, Any]:
    from cycler import cycler

    ink, faint = INK["light"], FAINT["light"]
    return {
        "figure.facecolor": PAGE["light"],
        "axes.facecolor": PAGE["light"],
        "savefig.facecolor": PAGE["light"],
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "axes.prop_cycle": cycler(color=SERIES["light"], marker=["o", "s", "^", "D", "v", "P"]),
        "axes.grid": True,
        "grid.color": faint,
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 10.5,
        "legend.frameon": False,
        "svg.fonttype": "path",
        "svg.hashsalt": "evidence",
    }


def _data_uri(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
