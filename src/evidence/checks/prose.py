"""Numbers in prose come from the data. A number with a unit beside a citation must be held by a claim of that source.

What counts: figures with %, a factor (×, x, times, -fold), a unit of time, memory, rate, power, frequency or money,
or epochs, steps, samples, tokens and the like. What does not: years, counts of things (8 GPUs), names (H100, fp8, v6.0,
GPT-3), dimensions (16×16, 8x H100), anything in code. A number that must stand there and that no claim can hold is
excused in its sentence: `<!-- number: why -->`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evidence.checks.finding import Finding, finding
from evidence.checks.pages import Sentence
from evidence.checks.subject import Subject
from evidence.library.load import Library

UNITS = {
    "%": r"%|per\s?cent|percentage\spoints?",
    "×": r"×|[xX]|times|-?fold",
    "GB/s": r"GB/s",
    "TB/s": r"TB/s",
    "Gb/s": r"Gb(?:it)?/s|Gbps",
    "TFLOP/s": r"TFLOPS?(?:/s)?",
    "PFLOP/s": r"PFLOPS?(?:/s)?",
    "EFLOP/s": r"EFLOPS?(?:/s)?",
    "ns": r"ns|nanoseconds?",
    "µs": r"[µμu]s|microseconds?",
    "ms": r"ms|milliseconds?",
    "s": r"s|secs?|seconds?",
    "min": r"mins?|minutes?",
    "h": r"h|hrs?|hours?",
    "d": r"days?",
    "byte": r"bytes?",
    "kB": r"[kK]B",
    "MB": r"MB",
    "GB": r"GB",
    "TB": r"TB",
    "PB": r"PB",
    "KiB": r"KiB",
    "MiB": r"MiB",
    "GiB": r"GiB",
    "TiB": r"TiB",
    "Hz": r"Hz",
    "MHz": r"MHz",
    "GHz": r"GHz",
    "W": r"W|watts?",
    "kW": r"kW",
    "MW": r"MW",
    "kWh": r"kWh",
    "epoch": r"epochs?",
    "step": r"steps?|iterations?|updates?",
    "sample": r"samples?|sequences?|images?",
    "token": r"tokens?",
    "GPU-hour": r"GPU[-\s]hours?",
    "USD": r"USD|dollars?",
}
"""The units that make a figure a quantity, each with its spellings; a rate stands before its first letters."""

SCALES = {"k": 1e3, "K": 1e3, "thousand": 1e3, "M": 1e6, "million": 1e6, "B": 1e9, "billion": 1e9, "T": 1e12}
FIGURE = r"(?:\d{1,3}(?:[,\u202f\u2009]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
QUANTITY = re.compile(
    rf"(?<![\w.,/])(?<!\w-)(?P<low>{FIGURE})(?:\s?(?:–|—|-|to)\s?(?P<high>{FIGURE}))?"
    rf"(?:\s?(?P<scale>{'|'.join(SCALES)})(?=[\s-]))?[\s\u00a0\u202f-]?"
    rf"(?:{'|'.join(f'(?P<u{index}>{pattern})' for index, pattern in enumerate(UNITS.values()))})(?!\w)"
)
NAMES_OF_UNITS = tuple(UNITS)
NOT_A_FACTOR = re.compile(r"\s?\d|\s+[A-Z]\w*\d")
"""What follows the × of 16×16 or of 8x H100."""
NOT_A_SHARE = re.compile(r"\s+(?:confidence|interval)")
DECADE = re.compile(r"(?:19|20)\d0s")
OPT_OUT = re.compile(r"number\b\s*:?\s*(?P<reason>.*)", re.S)


class Quantity(NamedTuple):
    """`low` and `high` in `unit`, equal where the text gives one figure; `shown` as written, at `start`."""

    low: float
    high: float
    unit: str
    shown: str
    start: int

    def within(self, held: Quantity) -> bool:
        """Whether a claim's quantity is this one, or a range that this is an end of."""
        if self.unit != held.unit:
            return False
        same_ends = math.isclose(self.low, held.low) and math.isclose(self.high, held.high)
        return same_ends or (self.low == self.high and any(math.isclose(self.low, end) for end in held[:2]))


def check(subject: Subject) -> Iterator[Finding]:
    held = held_by_source(subject.library)
    for page in subject.pages:
        for sentence in page.sentences:
            yield from of_sentence(subject.library, sentence, held)


def of_sentence(library: Library, sentence: Sentence, held: Mapping[str, list[Quantity]]) -> Iterator[Finding]:
    """A bare number, an excuse without a reason, or an excuse for nothing."""
    excuses = [found["reason"].strip() for each in sentence.comments if (found := OPT_OUT.match(each))]
    bare = list(bare_numbers(library, sentence, held))
    if not all(excuses):
        mend = "write <!-- number: why no claim can hold it -->"
        yield finding("number-reason", sentence.place, "an opt-out for a number gives no reason", mend)
    elif excuses and not bare:
        yield finding("number-idle", sentence.place, f"nothing to excuse here: {excuses[0]!r}", "remove the comment")
    elif bare and not excuses:
        shown = ", ".join(repr(each.shown) for each in bare)
        mend = "use {claim}, {measured}, {rcp} or {fact}, or say why not: <!-- number: reason -->"
        yield finding(
            "number-bare", sentence.place_at(bare[0].start), f"no claim of the cited source holds {shown}", mend
        )


def bare_numbers(library: Library, sentence: Sentence, held: Mapping[str, list[Quantity]]) -> Iterator[Quantity]:
    """The quantities of a sentence with a citation that no claim of a cited source holds."""
    cited = {key for role in sentence.roles if role.is_citation for key in role.keys}
    named = [library.claims.get(role.target) for role in sentence.roles if role.name == "claim"]
    cited |= {claim.source for claim in named if claim}
    if not cited:
        return
    known = [quantity for key in cited for quantity in held.get(key, ())]
    for quantity in quantities(sentence.text):
        if not any(quantity.within(each) for each in known):
            yield quantity


def held_by_source(library: Library) -> dict[str, list[Quantity]]:
    """What the claims of each source state: value, sentence, baseline and the note on what the source really says."""
    held: dict[str, list[Quantity]] = {}
    for claim in library.claims.values():
        for text in (f"{claim.value} {claim.unit}", claim.says, claim.baseline, claim.note):
            held.setdefault(claim.source, []).extend(quantities(text))
    return held


def quantities(text: str) -> Iterator[Quantity]:
    """The numbers with a unit in a text."""
    for found in QUANTITY.finditer(text):
        unit = next(NAMES_OF_UNITS[index] for index in range(len(UNITS)) if found[f"u{index}"] is not None)
        rest = text[found.end() :]
        if (unit == "×" and NOT_A_FACTOR.match(rest)) or (unit == "%" and NOT_A_SHARE.match(rest)):
            continue
        if DECADE.fullmatch(found[0]):
            continue
        scale = SCALES.get(found["scale"] or "", 1.0)
        low, high = (
            float(re.sub(r"[,\u202f\u2009]", "", each)) * scale
            for each in (found["low"], found["high"] or found["low"])
        )
        yield Quantity(low, high, unit, " ".join(found[0].split()), found.start())
