"""The computed part of a benchmark's page as nodes: tables with captions, a picture with words, traps with rules."""

from pathlib import Path

import pytest
from docutils import nodes

from evidence.library.load import load
from evidence.library.project import find_project
from evidence.site.portraits import portrait_nodes

LIBRARY = load(find_project(Path(__file__).parent))


def made(benchmark: str, round: str = "6.0") -> list[nodes.Node]:
    return portrait_nodes(LIBRARY, LIBRARY.benchmarks[round][benchmark])


def captions(found: list[nodes.Node]) -> list[str]:
    return [each.next_node(nodes.title).astext() for each in found if isinstance(each, nodes.table)]


def pictures(found: list[nodes.Node]) -> list[str]:
    return [each.astext() for each in found if isinstance(each, nodes.raw)]


@pytest.mark.parametrize("benchmark", ["llama31_8b", "dlrm_dcnv2"])
def test_a_page_has_all_parts(benchmark: str) -> None:
    found = made(benchmark)
    assert [caption.split()[0:2] for caption in captions(found)] == [
        ["The", "evaluation"],
        ["What", "submitters"],
        ["What", "may"],
    ]
    (picture,) = pictures(found)
    assert 'alt="Samples to target of' in picture
    assert "best at batch" in picture
    assert "mlperf-logging" in found[-1].astext()
    assert "from a public fork, not the round" in found[-1].astext()


def test_techniques_are_those_that_can_apply_here() -> None:
    table = [each for each in made("deepseekv3_671b") if isinstance(each, nodes.table)][-1]
    rows = [[cell.astext() for cell in row] for row in table.findall(nodes.row)][1:]
    status = {row[0]: row[2] for row in rows}
    assert "n/a" not in status.values()
    assert status["Batch size below the smallest reference point"] == "not allowed"
    assert len(rows) > 100


def test_a_new_benchmark_without_logs_says_nothing_of_them() -> None:
    found = made("dlrmv4", "6.1")
    assert not [caption for caption in captions(found) if "submitters" in caption]
    assert "Logs of" not in found[-1].astext()


def test_a_retired_benchmark_in_epochs_has_points_but_no_plan() -> None:
    found = made("resnet")
    (picture,) = pictures(found)
    assert "epochs" in picture or "best at batch" not in picture
    assert not [caption for caption in captions(found) if caption.startswith("What may be done")]
