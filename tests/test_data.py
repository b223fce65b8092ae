"""The data of the book itself: nothing was lost, every id points somewhere, and the official files agree."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from evidence.library.bib import by_bibtexparser, by_pybtex
from evidence.library.errors import InputError
from evidence.library.load import ENTERABLE, Library, load
from evidence.library.models import Benchmark, Compliance, RoundFile, Technique
from evidence.library.pagedata import Corrections, LeftOut, read_built_on, read_corrections, read_left_out
from evidence.library.project import Project

HERE = Path(__file__).parent
PROJECT = Project(HERE.parent)
EQUIVALENCE = re.compile(r"^(counted|testable|not testable): \S|^[a-z0-9-]+/[a-z0-9.-]+$")
LOGGED_AS = {"sequence_length": "max_sequence_length", "opt_init_checkpoint_step": "init_checkpoint_step"}


@pytest.fixture(scope="module")
def library() -> Library:
    return load(PROJECT)


def original_ids(name: str) -> list[str]:
    return (HERE / "data" / name).read_text(encoding="utf-8").split()


def lost(originals: Iterable[str], present: Iterable[str], left_out: Iterable[str]) -> list[str]:
    """Rows that are neither in the book nor accounted for."""
    return sorted(set(originals) - set(present) - set(left_out))


def statuses(technique: Technique) -> Iterator[tuple[str, Compliance]]:
    yield from technique.compliance.items()


def test_counts(library: Library) -> None:
    assert len(library.claims) >= 235
    assert len(library.techniques) >= 165
    assert len(library.sources) >= 47
    assert len(library.rules["6.0"]) >= 70
    assert len({each for found in library.benchmarks.values() for each in found}) >= 9


@pytest.mark.parametrize(("kind", "file"), [("claims", "claim_ids.txt"), ("techniques", "technique_ids.txt")])
def test_no_row_is_dropped_in_silence(library: Library, kind: str, file: str) -> None:
    present = getattr(library, kind)
    rows = getattr(read_left_out(PROJECT), kind)
    originals = original_ids(file)
    assert lost(originals, present, [row.id for row in rows]) == []
    for row in rows:
        assert row.id in originals and row.id not in present
        assert not row.into or row.into in present


def test_a_dropped_row_is_noticed() -> None:
    originals = original_ids("claim_ids.txt")
    assert lost(originals, originals[1:], []) == [originals[0]]
    assert lost(originals, originals[1:], [originals[0]]) == []
    with pytest.raises(ValidationError, match="why"):
        LeftOut.model_validate({"claims": [{"id": originals[0]}]})


def test_every_technique_has_a_status_for_6_0_and_a_word_on_6_1(library: Library) -> None:
    for technique in library.techniques.values():
        now, later = technique.compliance["6.0"], technique.compliance["6.1"]
        assert now.status not in ("unknown", "n/a") and now.rules and now.why, technique.id
        assert later.why, technique.id
        assert EQUIVALENCE.match(technique.equivalence), technique.id


def test_compliance_points_at_rules_and_benchmarks_of_its_own_round(library: Library) -> None:
    for technique in library.techniques.values():
        for round, compliance in statuses(technique):
            rules, benchmarks = library.rules[round], library.benchmarks[round]
            for benchmark, here in compliance.benchmarks.items():
                assert benchmarks[benchmark].status in ENTERABLE, (technique.id, round, benchmark)
                assert here.status != "conditional" or here.condition, (technique.id, round, benchmark)
                assert set(here.rules) <= set(rules), (technique.id, round, benchmark)
            assert set(compliance.rules) <= set(rules), (technique.id, round)


def test_claims_point_at_sources_and_techniques(library: Library) -> None:
    for claim in library.claims.values():
        assert claim.source in library.sources, claim.id
        assert set(claim.techniques) <= set(library.techniques), claim.id
        if claim.check == "differs":
            assert claim.review_says and claim.review_says != claim.says, claim.id
        else:
            assert not claim.review_says, claim.id
        if claim.check == "not-found":
            assert claim.note, claim.id


def test_checks_of_the_claims_are_counted(library: Library) -> None:
    """Of those taken from the reviews; what we drew from the rulebook and from papers ourselves is not among them."""
    own = {"rules-worked-example-limits", "rules-405b-evaluation-overhead", "rules-405b-finer-schedule"}
    own |= {"krell2021-half-padding", "krell2021-2x", "krell2021-equivalence"}
    assert own <= set(library.claims)
    found = Counter(claim.check for claim in library.claims.values() if claim.id not in own)
    assert found == {"confirmed": 144, "differs": 59, "not-found": 39}


def test_both_bibtex_parsers_read_the_same_sources() -> None:
    text = PROJECT.bib.read_text(encoding="utf-8")
    first, failures = by_bibtexparser(text)
    second, complaints = by_pybtex(text)
    assert failures == [] and complaints == []
    assert first.keys() == second.keys()
    for key, entry in first.items():
        other = second[key]
        assert (entry.type, entry.fields, entry.people) == (other.type, other.fields, other.people), key


def test_the_47_references_of_the_review_are_all_there() -> None:
    entries, _ = by_bibtexparser(PROJECT.bib.read_text(encoding="utf-8"))
    numbers = sorted(int(entry.fields["reference"]) for entry in entries.values() if "reference" in entry.fields)
    assert numbers == list(range(1, 48))
    for key, entry in entries.items():
        assert entry.fields.get("read") and entry.fields.get("checked"), key
        assert entry.fields.get("confidence", "high") in ("high", "medium", "low"), key
        if "eprint" in entry.fields:
            assert entry.fields["doi"], key


def test_6_1_is_6_0_with_its_changes(library: Library) -> None:
    before, after = library.benchmarks["6.0"], library.benchmarks["6.1"]
    assert {each for each, it in after.items() if it.status == "removed"} == {"llama31_405b", "dlrm_dcnv2"}
    assert {each for each, it in after.items() if it.status == "new"} == {"dlrmv4", "qwen35_397b_grpo"}
    assert {each.status for each in before.values()} == {"current", "retired"}
    assert "rules text not available" in str(library.rulefiles["6.1"].origin)
    assert library.rules["6.1"]["packing"] == library.rules["6.0"]["packing"]
    assert library.rules["6.1"]["log-disclosure"] != library.rules["6.0"]["log-disclosure"]
    assert "llama405b-lr-table" not in library.rules["6.1"]


def test_a_round_on_the_wrong_base_is_refused() -> None:
    base = RoundFile(round="6.0", dated="", origin={}, rules=[], benchmarks=[])
    with pytest.raises(ValueError, match=r"builds on 5\.1"):
        RoundFile(round="6.1", dated="", base="5.1", origin={}, rules=[], benchmarks=[]).over(base)
    with pytest.raises(ValueError, match="no-such-rule"):
        RoundFile(
            round="6.1", dated="", base="6.0", origin={}, rules=[], benchmarks=[], rules_dropped=["no-such-rule"]
        ).over(base)


def official(*parts: str) -> Path:
    """A file of the installed mlperf-logging, found without importing it."""
    spec = importlib.util.find_spec("mlperf_logging")
    assert spec is not None and spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations))).joinpath(*parts)


def pinned(benchmark: str, round: str) -> dict[str, float]:
    """The numbers that the official ruleset compares exactly: logged key to value."""
    folder = official("compliance_checker", f"training_{round}.0")
    found: dict[str, float] = {}
    for name in (f"closed_{benchmark}.yaml", "closed_common.yaml"):
        for item in yaml.safe_load((folder / name).read_text(encoding="utf-8")):
            key = item.get("KEY", {})
            checks = key.get("CHECK", "")
            for check in checks if isinstance(checks, list) else [checks]:
                if match := re.fullmatch(r"\s*v\['value'\]\s*==\s*(-?[\d.e-]+)\s*", str(check)):
                    found[key["NAME"]] = float(match.group(1))
    return found


def differing(benchmark: Benchmark, ruleset: dict[str, float]) -> list[str]:
    """Hyperparameters said to be compared exactly with one number, where the ruleset has another or none."""
    wrong = []
    for each in benchmark.hyperparameters:
        if each.verifier == "exact" and each.value and not each.expr:
            key = LOGGED_AS.get(each.name, each.name)
            if ruleset.get(key) != float(each.value):
                wrong.append(f"{benchmark.id}: {key} {each.value} against {ruleset.get(key)}")
    return wrong


@pytest.mark.parametrize("round", ["6.0", "6.1"])
def test_pinned_hyperparameters_are_those_of_the_official_ruleset(library: Library, round: str) -> None:
    checked = 0
    for benchmark in library.benchmarks[round].values():
        if benchmark.status in ENTERABLE:
            ruleset = pinned(benchmark.id, round)
            assert differing(benchmark, ruleset) == []
            checked += sum(each.verifier == "exact" and bool(each.value) for each in benchmark.hyperparameters)
    assert checked > 40


def test_a_wrong_pinned_value_is_noticed(library: Library) -> None:
    ruleset = pinned("llama31_8b", "6.0") | {"opt_adamw_beta_2": 0.999}
    assert differing(library.benchmarks["6.0"]["llama31_8b"], ruleset) == [
        "llama31_8b: opt_adamw_beta_2 0.95 against 0.999"
    ]


def samples(point: dict[str, list[float]]) -> list[float]:
    """The reference runs of one official point, fastest first; the files spell the key in two ways."""
    return sorted(point.get("Epochs to converge") or point["samples to converge"])


@pytest.mark.parametrize("round", ["6.0", "6.1"])
def test_reference_points_are_those_of_the_official_tables(library: Library, round: str) -> None:
    for benchmark in library.benchmarks[round].values():
        if benchmark.status not in ENTERABLE:
            continue
        path = official("rcp_checker", f"training_{round}.0", f"rcps_{benchmark.id}.json")
        table = {each["BS"]: samples(each) for each in json.loads(path.read_text()).values()}
        assert {point.gbs: point.runs for point in benchmark.rcp} == {size: len(n) for size, n in table.items()}
        for point in benchmark.rcp:
            kept = table[point.gbs][1:-1]
            assert point.mean == pytest.approx(sum(kept) / len(kept), rel=1e-4), (benchmark.id, point.gbs)
            assert point.max_speedup_checker == pytest.approx(point.mean / point.min_mean_checker, rel=1e-3)


def test_the_log_keys_that_6_1_demands_are_in_its_rule(library: Library) -> None:
    common = official("compliance_checker", "training_6.1.0", "common.yaml").read_text(encoding="utf-8")
    formats = re.search(r"in \[('fp64'.*?)\]", common)
    assert formats is not None
    summary = library.rules["6.1"]["numerics-preapproved-formats"].summary
    assert all(name.strip(" '") in summary for name in formats.group(1).split(","))


def test_corrections_are_as_many_as_the_audit_found(library: Library) -> None:
    file = read_corrections(PROJECT)
    assert Counter(each.verdict for each in file.corrections) == {"partly": 24, "wrong": 18, "outdated": 1}
    for each in file.corrections:
        assert set(each.rules) <= set(library.rules["6.0"]), each.id
        assert set(each.sources) <= set(library.sources), each.id
        assert {library.claims[claim].check for claim in each.claims} <= {"differs"}, each.id
    assert set(file.against) <= set(library.sources)


def test_a_correction_that_went_missing_is_noticed() -> None:
    whole = read_corrections(PROJECT).model_dump()
    with pytest.raises(ValidationError, match="68 compared"):
        Corrections.model_validate(whole | {"corrections": whole["corrections"][1:]})
    doubled = [*whole["corrections"][:-1], whole["corrections"][0]]
    with pytest.raises(ValidationError, match="given twice"):
        Corrections.model_validate(whole | {"corrections": doubled})


def test_works_built_on_the_benchmark_paper(library: Library) -> None:
    file = read_built_on(PROJECT)
    assert file.source in library.sources
    assert len(file.works) == 30 == len({work.arxiv for work in file.works})
    for work in file.works:
        assert re.fullmatch(r"\d{4}\.\d{4,5}", work.arxiv)
        if work.key:
            assert library.sources[work.key].eprint == work.arxiv


def test_page_data_that_is_missing_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"built-on\.yml"):
        read_built_on(Project(tmp_path))
