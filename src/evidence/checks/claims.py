"""Claims and effects point at things that exist, and at each other."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checks.finding import Finding, finding
from evidence.checks.subject import Subject
from evidence.library.errors import nearest
from evidence.library.models import Claim


def check(subject: Subject) -> Iterator[Finding]:
    for claim in subject.library.claims.values():
        yield from of_claim(subject, claim)
    for effect in subject.effects.values():
        for name in effect.claims or ():
            claim_or_none = subject.library.claims.get(name)
            if claim_or_none is None:
                mend = nearest(name, list(subject.library.claims))
                yield finding("effect-claim", effect.place, f"{effect.id} answers unknown claim {name!r}", mend)
            elif effect.id not in claim_or_none.effects:
                place = subject.library.place("claim", name)
                mend = f"add {effect.id} to the claim's effects, or take the claim from the effect ({effect.place})"
                yield finding("claim-link", place, f"{effect.id} answers {name}, which does not name it", mend)
        for name in effect.techniques or ():
            if name not in subject.library.techniques:
                mend = nearest(name, list(subject.library.techniques))
                yield finding("effect-claim", effect.place, f"{effect.id} tests unknown technique {name!r}", mend)


def of_claim(subject: Subject, claim: Claim) -> Iterator[Finding]:
    library = subject.library
    keys: list[tuple[str, tuple[str | int, ...]]] = [(claim.source, ("source",))]
    keys += [(key, ("see", index)) for index, key in enumerate(claim.see)]
    for name, field in keys:
        if name not in library.bib.entries:
            mend = f"{nearest(name, list(library.sources))} Or add it to {library.bib.name}"
            place = library.place("claim", claim.id, *field)
            yield finding("claim-source", place, f"{claim.id}: unknown source {name!r}", mend)
    for index, name in enumerate(claim.techniques):
        if name not in library.techniques:
            place = library.place("claim", claim.id, "techniques", index)
            mend = nearest(name, list(library.techniques))
            yield finding("claim-technique", place, f"{claim.id}: unknown technique {name!r}", mend)
    for index, name in enumerate(claim.effects):
        place = library.place("claim", claim.id, "effects", index)
        effect = subject.effects.get(name)
        if effect is None:
            mend = f"{nearest(name, list(subject.effects))} Or leave it out until a notebook declares it"
            yield finding("claim-effect", place, f"{claim.id}: unknown effect {name!r}", mend)
        elif effect.claims is not None and claim.id not in effect.claims:
            mend = f"add the claim to Effect(claims=…) in {effect.place}, or take the effect from the claim"
            yield finding("claim-link", place, f"{claim.id} names {name}, which does not answer it", mend)
