"""An effect: what is expected, written down before it is measured, and the verdict on what came out.

A notebook declares `Effect(…)` first, measures, and ends its cell with `effect.judge(run, samples, control=…)`.
The result displays itself twice: as HTML for people, and as `application/vnd.evidence.effect+json` for machines;
the executed notebook is therefore the record, and nothing is written beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from evidence.lab.card import as_html, as_text
from evidence.lab.device import Run
from evidence.lab.stats import exact_verdict, interval_of, verdict
from evidence.library.models import (
    BROKEN,
    EFFECT_MIME,
    ControlRecord,
    Direction,
    EffectId,
    EffectKind,
    Expectation,
    How,
    Record,
    Slug,
    Verdict,
)


@dataclass(frozen=True)
class Guard:
    """A side condition of a measurement: `low <= value <= high`, for example the error of the faster kernel."""

    value: float
    low: float = -math.inf
    high: float = math.inf

    @property
    def ok(self) -> bool:
        return self.low <= self.value <= self.high

    def __str__(self) -> str:
        return f"{self.value:.4g} {'within' if self.ok else 'OUTSIDE'} {self.low:.4g} … {self.high:.4g}"


@dataclass(frozen=True)
class Effect:
    """A measured quantity that answers claims, with an expectation fixed in advance.

    Args:
        id: `<notebook>/<name>`.
        title: one sentence that the effect asserts.
        kind: `ratio`, `difference`, `parity` (a gap that should vanish), `equivalence` (a relative distance in
            fp64) or `exact` (a count).
        direction: `above` or `below` the bound, `within` null ± bound, or `equal` to the bound.
        bound: the limit beyond which the effect holds; for `equal` the expected value.
        fault: what the control breaks.
        claims: ids of the claims that it answers.
        null: the smallest effect that counts as one (see `lab.stats.verdict`); for `within` the centre.
        cited: the value that the literature gives: a number, a range, or words.
        tolerance: for `equal`, the stated rounding.
        how: `measured`, `counted`, `emulated` or `computed` from public data.
    """

    id: str
    title: str
    kind: EffectKind
    direction: Direction
    bound: float
    fault: str
    unit: str = ""
    claims: Sequence[str] = ()
    techniques: Sequence[str] = ()
    null: float | None = None
    cited: float | Sequence[float] | str | None = None
    tolerance: float = 0.0
    how: How = "measured"

    def __post_init__(self) -> None:
        """Refuse now what could not be judged or recorded after minutes of measuring.

        Raises:
            ValueError: the parts do not fit together; pydantic's subclass of it for an id that no record can have.
        """
        TypeAdapter(EffectId).validate_python(self.id)
        for name, ids in (("claims", self.claims), ("techniques", self.techniques)):
            if isinstance(ids, str):
                raise ValueError(f"{self.id}: {name} is a list of ids, not one text")
            TypeAdapter(list[Slug]).validate_python(list(ids))
        fits = {"exact": ("equal",), "parity": ("within",), "equivalence": ("within",)}
        allowed = fits.get(self.kind, ("above", "below"))
        if self.direction not in allowed:
            raise ValueError(f"{self.id}: kind {self.kind} goes with direction {' or '.join(allowed)}")
        if not math.isfinite(self.bound) or (self.null is not None and not math.isfinite(self.null)):
            raise ValueError(f"{self.id}: bound and null must be finite")
        if self.direction == "within" and self.bound <= 0:
            raise ValueError(f"{self.id}: nothing can lie within ± {self.bound}")
        if self.kind == "equivalence" and self.null:
            raise ValueError(f"{self.id}: an equivalence has no null: a distance is compared with zero")
        if allowed == ("above", "below"):
            if self.null is None:
                raise ValueError(f"{self.id}: a {self.kind} needs a null value")
            if (self.bound - self.null) * (1 if self.direction == "above" else -1) < 0:
                raise ValueError(f"{self.id}: the null value lies beyond the bound")
        if not self.fault.strip():
            raise ValueError(f"{self.id}: say what the control breaks")

    def judge(
        self,
        run: Run,
        samples: Sequence[float],
        *,
        control: Sequence[float],
        guards: Mapping[str, Guard] | None = None,
        reason: str = "",
    ) -> Measurement:
        """The verdict on the samples, and on the control's samples by the same rule.

        A control that does not come out `weaker` or `contradicted`, or a guard outside its limits, makes the
        verdict `inconclusive`, whatever the samples say. In profile `smoke` nothing is concluded.

        Raises:
            ValueError: no samples, or samples that are not finite.
        """
        found, estimate, low, high = self._verdict(samples)
        broken, c_estimate, c_low, c_high = self._verdict(control)
        guards = guards or {}
        reasons = [reason] if reason else []
        if broken not in BROKEN:
            reasons.append(f"the control came out {broken}, so the measurement proves nothing")
            found = "inconclusive"
        for name, guard in guards.items():
            if not guard.ok:
                reasons.append(f"{name}: {guard}")
                found = "inconclusive"
        if run.profile == "smoke":
            found, broken = "not-measured", "not-measured"
            reasons = ["profile smoke tests the plumbing and measures nothing"]
        controlled = ControlRecord(
            fault=self.fault,
            verdict=broken,
            estimate=c_estimate,
            low=c_low,
            high=c_high,
            n=len(control),
            samples=[float(x) for x in control],
        )
        return self._record(
            run,
            verdict=found,
            estimate=estimate,
            low=low,
            high=high,
            n=len(samples),
            samples=[float(x) for x in samples],
            control=controlled,
            reason="; ".join(reasons),
            guards={name: str(guard) for name, guard in guards.items()},
        )

    def not_measured(self, run: Run, reason: str) -> Measurement:
        """This machine cannot show the effect; the reason says why."""
        if not reason.strip():
            raise ValueError(f"{self.id}: say why it was not measured")
        return self._record(run, verdict="not-measured", reason=reason)

    def _verdict(self, samples: Sequence[float]) -> tuple[Verdict, float, float | None, float | None]:
        if self.kind == "exact":
            found = exact_verdict(samples, self.bound, self.tolerance)
            # The sample farthest from what was expected speaks for all.
            worst = float(max(samples, key=lambda x: abs(x - self.bound)))
            return found, worst, float(min(samples)), float(max(samples))
        interval = interval_of(self.kind, samples)
        found = verdict(interval, self.direction, self.bound, self.null)
        return found, interval.estimate, interval.low, interval.high

    def _record(self, run: Run, **measured: Any) -> Measurement:
        cited = self.cited
        expectation = Expectation(
            direction=self.direction,
            bound=self.bound,
            null=self.null,
            cited=cited if cited is None or isinstance(cited, str | int | float) else list(cited),
        )
        return Measurement(
            Record(
                id=self.id,
                title=self.title,
                kind=self.kind,
                how=self.how,
                claims=list(self.claims),
                techniques=list(self.techniques),
                expectation=expectation,
                unit=self.unit,
                profile=run.profile,
                seed=run.seed,
                machine=dict(run.machine),
                versions=dict(run.versions),
                measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
                **measured,
            )
        )


@dataclass(frozen=True)
class Measurement:
    """A record that shows itself in a notebook. `measurement.record` is the data."""

    record: Record

    @property
    def verdict(self) -> Verdict:
        return self.record.verdict

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            EFFECT_MIME: self.record.model_dump(mode="json"),
            "text/html": as_html(self.record),
            "text/plain": as_text(self.record),
        }
