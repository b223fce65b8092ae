"""The models of rounds 6.0 and 6.1 as their dimensions: parameters, and what a token leaves for backward in a layer.

The dimensions are those that the reference implementations state (`mlcommons-training-references`): in a table of the
README (both Llama 3.1, FLUX.1, most of DeepSeek-V3), in a configuration (Llama 2 70B, GPT-OSS, DLRMv4) or in a command
(DLRM-DCNv2). Where they leave one open, the model's publisher fills it and `note` says so. Parameters are counted from
the dimensions, so that a wrong one shows as a wrong total.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """One benchmark's model.

    `trained` and `frozen` are numbers of parameters; `tables` bytes of embedding tables with the state of their own
    optimizer. `per_token` is the number of activations that one token leaves for backward in a layer if nothing is
    recomputed, with exact attention that keeps no score matrix; `boundary` the ones between layers, which whole-layer
    recomputation keeps. `tokens` is the length of one sample, `vocab` the width of its logits.
    """

    benchmark: str
    rounds: tuple[str, ...]
    trained: float
    layers: int = 0
    boundary: int = 0
    per_token: float = 0
    tokens: int = 0
    vocab: int = 0
    frozen: float = 0
    tables: float = 0
    note: str = ""


def attention(width: int, heads: int, groups: int, head: int, *, gated: bool = False) -> int:
    """Parameters of grouped-query attention; `gated` doubles the query projection."""
    return width * head * (heads * (3 if gated else 2) + 2 * groups)


def saved(width: int, heads: int, groups: int, head: int, hidden: float) -> float:
    """Activations that a pre-norm layer with gated feed-forward leaves a token: what its backward reads.

    Input and output of both norms; queries, keys, values and what attention gives; and of the feed-forward network
    both halves and their product (`hidden` wide each). The activation function is recomputed inside its kernel.
    """
    return 4 * width + head * (2 * heads + 2 * groups) + 3 * hidden


def dense(width: int, layers: int, hidden: int, heads: int, groups: int, vocab: int) -> int:
    """Parameters of a Llama: untied embeddings, no biases, norms included."""
    layer = attention(width, heads, groups, width // heads) + 3 * width * hidden + 2 * width
    return layers * layer + 2 * vocab * width + width


def _llama_8b() -> Model:
    return Model(
        "llama31_8b",
        ("6.0", "6.1"),
        trained=dense(4096, 32, 14336, 32, 8, 128256),
        layers=32,
        boundary=4096,
        per_token=saved(4096, 32, 8, 128, 14336),
        tokens=8192,
        vocab=128256,
        note="vocabulary of the released model, special symbols included; the reference counts 128,000 without them",
    )


def _llama_405b() -> Model:
    return Model(
        "llama31_405b",
        ("6.0",),
        trained=dense(16384, 126, 53248, 128, 8, 128256),
        layers=126,
        boundary=16384,
        per_token=saved(16384, 128, 8, 128, 53248),
        tokens=8192,
        vocab=128256,
        note="vocabulary of the released checkpoint; the benchmark's tokenizer uses a quarter of it",
    )


def _llama_70b_lora() -> Model:
    width, layers, rank = 8192, 80, 16
    # On the fused projection to queries, keys and values, and on the output projection.
    adapters = layers * rank * ((width + width + 2 * 1024) + (width + width))
    return Model(
        "llama2_70b_lora",
        ("6.0", "6.1"),
        trained=adapters,
        frozen=dense(width, layers, 28672, 64, 8, 32000),
        layers=layers,
        boundary=width,
        per_token=saved(width, 64, 8, 128, 28672),
        tokens=8192,
        vocab=32000,
        note="only the adapters are trained; every activation on the way to them is still needed",
    )


def _gpt_oss_20b() -> Model:
    width, layers, experts, active, vocab = 2880, 24, 32, 4, 128256
    expert = 3 * width * width + 3 * width
    projections = attention(width, 64, 8, 64) + (64 + 2 * 8) * 64 + width
    layer = projections + experts * expert + experts * (width + 1) + 2 * width + 64
    return Model(
        "gpt_oss_20b",
        ("6.0", "6.1"),
        trained=layers * layer + 2 * vocab * width + width,
        layers=layers,
        boundary=width,
        per_token=saved(width, 64, 8, 64, active * width) + active * width,
        tokens=8192,
        vocab=vocab,
        note="size of a head, biases and attention sinks as in the publisher's code (github.com/openai/gpt-oss); the "
        "vocabulary is that of the benchmark's Llama 3.1 tokenizer, not the published 201,088; four experts a token, "
        "each with its own copy of the token",
    )


def _deepseek_v3() -> Model:
    width, layers, plain, heads = 7168, 61, 3, 128
    query, key_value, rope, head = 1536, 512, 64, 128
    latent = width * query + query * heads * (head + rope) + width * (key_value + rope)
    latent += key_value * heads * 2 * head + heads * head * width + query + key_value
    expert = 3 * width * 2048
    sparse = latent + 257 * expert + 256 * width + 256 + 2 * width
    whole = latent + 3 * width * 18432 + 2 * width
    saved_latent = 4 * width + query + key_value + heads * (2 * (head + rope) + 2 * head)
    return Model(
        "deepseekv3_671b",
        ("6.0", "6.1"),
        trained=plain * whole + (layers - plain) * sparse + 2 * 129280 * width + width,
        layers=layers,
        boundary=width,
        per_token=saved_latent + 3 * 9 * 2048 + 8 * width,
        tokens=4096,
        vocab=129280,
        note="latent sizes, width of an expert and dense layers as in the publisher's configuration "
        "(github.com/deepseek-ai/DeepSeek-V3, inference/configs); vocabulary of its checkpoint, of which the "
        "benchmark's Llama 3.1 tokenizer leaves some unused; without the layer for multi-token prediction; eight "
        "experts and the shared one a token",
    )


def _flux() -> Model:
    width, double, single, context = 3072, 19, 38, 512
    two_streams = 2 * (18 * width**2 + 18 * width + 2 * 128)
    one_stream = 15 * width**2 + 15 * width + 2 * 128
    ends = width * (64 + 4096 + 256 + 768 + 64) + 2 * width**2 + 2 * width**2 + 8 * width + 64
    return Model(
        "flux1",
        ("6.0", "6.1"),
        trained=double * two_streams + single * one_stream + ends,
        layers=double + single,
        boundary=width,
        # Norm, queries, keys, values, attention's result, and the hidden layer of four widths before and after GELU.
        per_token=15 * width,
        tokens=context,
        note="256 image and 256 text tokens; the encoders are frozen and may be left out by precomputing",
    )


def _dlrm_v2() -> Model:
    rows = sum(_DLRM_V2_ROWS)
    dense_layers = [(13, 512), (512, 256), (256, 128), (3456, 1024), (1024, 1024), (1024, 512), (512, 256), (256, 1)]
    cross = 3 * (2 * 3456 * 512 + 3456)
    return Model(
        "dlrm_dcnv2",
        ("6.0",),
        trained=sum(a * b + b for a, b in dense_layers) + cross,
        tables=rows * 128 * (4 + 4),
        note="tables in fp32 with Adagrad's sum an element; a gradient exists only for the rows of a batch",
    )


def _dlrm_v4() -> Model:
    rows, width = sum(_DLRM_V4_ROWS), 512
    # The fused projection to U, V, Q and K for four heads of 128, and the output projection, three times; the dense
    # rest (encoders, item path, head) is a few million.
    layer = width * 4 * 4 * 128 + 3 * 4 * 128 * width
    return Model(
        "dlrmv4",
        ("6.1",),
        trained=3 * layer + 5e6,
        layers=3,
        boundary=width,
        per_token=2 * width + 7 * 4 * 128,
        tokens=4096,
        tables=rows * (width * 4 + 4),
        note="tables in fp32 with one number a row for their Adagrad; dense part rounded to the million",
    )


def _qwen_397b() -> Model:
    width, layers, experts, hidden = 4096, 60, 512, 1024
    full = attention(width, 32, 2, 256, gated=True)
    linear = width * (2 * 16 * 128 + 3 * 64 * 128 + 2 * 64)
    sparse = (experts + 1) * 3 * width * hidden + width * (experts + 1)
    return Model(
        "qwen35_397b_grpo",
        ("6.1",),
        trained=layers * sparse + 15 * full + 45 * linear + 2 * 248320 * width,
        layers=layers,
        boundary=width,
        per_token=4 * width + 128 * (2 * 16 + 3 * 64) + 3 * 11 * hidden + 10 * width,
        tokens=65536,
        vocab=248320,
        note="dimensions of the published configuration, as Megatron's example for this model repeats them; the policy "
        "alone, at full length; the pool that generates holds its own copy of the weights",
    )


_DLRM_V2_ROWS = (
    40_000_000, 39_060, 17_295, 7_424, 20_265, 3, 7_122, 1_543, 63, 40_000_000, 3_067_956, 405_282, 10, 2_209, 11_938,
    155, 4, 976, 14, 40_000_000, 40_000_000, 40_000_000, 590_152, 12_973, 108, 36,
)  # fmt: skip
_DLRM_V4_ROWS = (
    9_390_624, 1_293_395, 3_367_692, 1_000_001, 100_000_000, 40_000_000, 24_000_000, 40_000_000, 32_000_000, 2_000_000,
    40_000_000,
)  # fmt: skip

MODELS = {
    model.benchmark: model
    for model in (
        _llama_8b(),
        _gpt_oss_20b(),
        _flux(),
        _llama_70b_lora(),
        _llama_405b(),
        _deepseek_v3(),
        _dlrm_v2(),
        _dlrm_v4(),
        _qwen_397b(),
    )
}
