"""The words that pages use for what the data says. One place, so that a status reads the same everywhere."""

from __future__ import annotations

import re
from typing import Final

from evidence.library.models import Benchmark, Claim, Record

LEVERS: Final = {
    "batch-size": "Batch size and optimisers",
    "precision": "Precision",
    "parallelism": "Parallelism and memory",
    "overlap": "Communication and overlap",
    "data": "Data pipeline and packing",
    "kernels": "Kernels and graph execution",
    "bert": "BERT",
    "dlrm": "DLRM",
    "lora": "LoRA fine-tuning",
    "moe": "Mixture of experts",
    "rules": "Timing, scoring and convergence",
    "other": "Other claims",
}
"""Levers in reading order, each with the title of its chapter."""

STATUS: Final = {
    "allowed": "allowed",
    "conditional": "conditional",
    "needs-approval": "needs approval",
    "not-allowed": "not allowed",
    "untested": "untested",
    "n/a": "n/a",
    "unknown": "unknown",
}
CHECK: Final = {"confirmed": "confirmed", "differs": "differs", "not-found": "not found"}
VERDICT: Final = {
    "holds": "holds",
    "weaker": "weaker",
    "contradicted": "contradicted",
    "inconclusive": "inconclusive",
    "not-measured": "not measured",
}
WORDS: Final = STATUS | CHECK | VERDICT

BENCHMARKS: Final = {
    "llama31_8b": "Llama 3.1 8B",
    "llama31_405b": "Llama 3.1 405B",
    "llama2_70b_lora": "Llama 2 70B LoRA",
    "gpt_oss_20b": "GPT-OSS 20B",
    "deepseekv3_671b": "DeepSeek-V3 671B",
    "flux1": "FLUX.1",
    "dlrm_dcnv2": "DLRM-DCNv2",
    "dlrmv4": "DLRMv4",
    "qwen35_397b_grpo": "Qwen3.5 397B GRPO",
    "bert": "BERT",
    "resnet": "ResNet-50",
    "gpt3": "GPT-3 175B",
    "stable_diffusion": "Stable Diffusion",
}
"""Short names for column heads; a benchmark that is not here shows its id."""


def benchmark_name(benchmark: Benchmark | str) -> str:
    """`Llama 3.1 8B` for `llama31_8b`."""
    name = benchmark if isinstance(benchmark, str) else benchmark.id
    return BENCHMARKS.get(name, name)


def quantity_text(value: str, unit: str) -> str:
    """A value with its unit as it is set: `3.5–4×`, `39 %`, `384 sequences`. A range gets an en dash, no date does."""
    value = re.sub(r"(?<![\d-])(\d[\d.,]*)-(\d[\d.,]*)(?![\d-])", r"\1–\2", value.strip())
    value = f"{int(value):,}" if re.fullmatch(r"\d{5,}", value) else value
    if unit in ("x", "×"):
        return f"{value}×"
    return f"{value} {unit}".strip()


def value_text(claim: Claim) -> str:
    """The claim's value with its unit; a dash where the source gives no number."""
    return quantity_text(claim.value, claim.unit) or "–"


def effect_anchor(effect: str) -> str:
    """The HTML id of an effect's card on its notebook page."""
    return "effect-" + re.sub(r"[^a-z0-9]+", "-", effect)


def date_of(record: Record) -> str:
    """The day on which a record was measured."""
    return record.measured_at[:10]


def plural(count: int, one: str, many: str = "") -> str:
    """`1 claim`, `2 claims`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def markdown(text: str) -> str:
    """Escape text so that MyST shows it letter for letter in one line."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|$~^:=\"'@%-])", r"\\\1", " ".join(text.split()))
