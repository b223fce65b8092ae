"""A record in words: for a terminal, for a cell of a notebook, for a table of the site."""

from __future__ import annotations

import html
import math

from evidence.library.models import ControlRecord, Record


def number(value: float | None, unit: str = "") -> str:
    """A number as a reader would write it: four significant digits, an exponent only beyond 1e-4 and a million."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        shown = str(value)
    elif value and not 1e-4 <= abs(value) < 1e6:
        shown = f"{value:.2e}"
    else:
        digits = 3 - math.floor(math.log10(abs(value))) if value else 0
        shown = f"{value:,.{max(0, digits)}f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return f"{shown}{unit}" if unit == "×" else f"{shown} {unit}".strip()


def expected_text(record: Record) -> str:
    """The expectation in words: 'above 2.5×; below 1.1× it counts as no effect'."""
    e, unit = record.expectation, record.unit
    if e.direction == "equal":
        return f"equal to {number(e.bound, unit)}"
    if e.direction == "within":
        centre = f"{number(e.null)} ± " if e.null else "± "
        return f"within {centre}{number(e.bound, unit)}"
    other = "below" if e.direction == "above" else "above"
    return f"{e.direction} {number(e.bound, unit)}; {other} {number(e.null, unit)} it counts as no effect"


def estimate_text(record: Record | ControlRecord, unit: str = "") -> str:
    """'4.41 (4.37 to 4.45; n = 9)', with the unit."""
    text = number(record.estimate, unit)
    if record.low is not None and record.high is not None and record.low != record.high:
        text += f" ({number(record.low)} to {number(record.high)}; n = {record.n})"
    elif record.n:
        text += f" (n = {record.n})"
    return text


def cited_text(record: Record) -> str:
    """What the literature gives: '2.5×', '0.1 to 0.2 nats', or its own words."""
    cited = record.expectation.cited
    if cited is None:
        return "–"
    if isinstance(cited, str):
        return cited
    values = cited if isinstance(cited, list) else [cited]
    return " to ".join([*(number(value) for value in values[:-1]), number(values[-1], record.unit)])


def as_text(record: Record) -> str:
    """One line for a terminal."""
    line = f"{record.id}: {record.verdict}"
    if record.estimate is not None:
        line += f", {estimate_text(record, record.unit)}; expected {expected_text(record)}"
    if record.control:
        line += f"; control {record.control.verdict} at {number(record.control.estimate, record.unit)}"
    return line + (f" [{record.reason}]" if record.reason else "")


def as_html(record: Record) -> str:
    """The card that a notebook shows. Classes are styled by the site; without it this is still a plain table."""
    rows = [("expected", expected_text(record)), ("cited", cited_text(record))]
    if record.estimate is not None:
        rows.append((record.how, estimate_text(record, record.unit)))
    if record.control:
        control = record.control
        rows.append(
            ("control", f"{control.fault}: {estimate_text(control, record.unit)}, {control.verdict}"),
        )
    rows += [(f"guard: {name}", value) for name, value in record.guards.items()]
    if record.reason:
        rows.append(("why", record.reason))
    rows.append(("machine", f"{record.machine.get('name', '?')}, profile {record.profile}, {record.measured_at[:10]}"))
    body = "".join(f'<tr><th scope="row">{html.escape(k)}</th><td>{html.escape(v)}</td></tr>' for k, v in rows)
    badge = f'<span class="ev-badge ev-{record.verdict}">{record.verdict}</span>'
    return (
        f'<div class="ev-effect" data-effect="{html.escape(record.id)}"><table class="ev-effect-table">'
        f"<caption>{badge} <code>{html.escape(record.id)}</code> {html.escape(record.title)}</caption>"
        f"<tbody>{body}</tbody></table></div>"
    )
