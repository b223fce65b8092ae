"""From text to models: pydantic's complaints become one line with file, line, field, and the nearest valid spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from evidence.library.errors import InputError, nearest
from evidence.library.yamlsource import Loc, YamlFile

M = TypeVar("M", bound=BaseModel)

PATTERN_MENDS = {
    "/": "an effect is named notebook/name, in lower case with hyphens",
    "": "ids are lower-case letters and digits, joined by single hyphens, dots or underscores",
}


def validate(model: type[M], source: YamlFile) -> M:
    """The file's data as `model`.

    Raises:
        InputError: for the first problem in the file, misspelt keys before everything else (a misspelt key also
            makes its field missing, which is no help to read first).
    """
    try:
        return model.model_validate(source.data)
    except ValidationError as error:
        raise explain(error, model, source) from error


def validate_map(model: type[M], source: YamlFile) -> dict[str, dict[str, M]]:
    """The file's data as two levels of names with a `model` in each.

    Raises:
        InputError: as `validate`.
    """
    adapter: TypeAdapter[dict[str, dict[str, M]]] = TypeAdapter(dict[str, dict[str, model]])  # type: ignore[valid-type]
    try:
        return adapter.validate_python(source.data)
    except ValidationError as error:
        raise explain(error, dict[str, dict[str, model]], source) from error  # type: ignore[valid-type]


def explain(error: ValidationError, shape: Any, source: YamlFile) -> InputError:
    """The first problem of a `ValidationError` in words, and how many more there are."""
    problems = sorted(error.errors(), key=lambda each: (each["type"] != "extra_forbidden", source.line(each["loc"])))
    first, more = problems[0], len(problems) - 1
    loc = first["loc"]
    what, mend = describe(first, shape)
    if more:
        what += f" (and {more} more problem{'s' if more > 1 else ''} in this file)"
    return InputError(what, where=f"{source.place(loc)}: {field_path(loc, source.data)}", mend=mend)


def describe(problem: ErrorDetails, shape: Any) -> tuple[str, str]:
    """What is wrong and how to mend it, for one problem of pydantic's."""
    loc, given, context = problem["loc"], problem["input"], problem.get("ctx", {})
    match problem["type"]:
        case "extra_forbidden":
            return f"unknown key {str(loc[-1])!r}", nearest(str(loc[-1]), fields_at(shape, loc[:-1]))
        case "missing":
            return f"{str(loc[-1])!r} is missing", "add it"
        case "literal_error":
            return f"{given!r} is not a word used here", nearest(
                str(given), re.findall(r"'([^']*)'", context["expected"])
            )
        case "string_pattern_mismatch":
            return f"{given!r} is not a valid id", PATTERN_MENDS["/" if "/" in context["pattern"] else ""]
        case "string_too_short":
            return "is empty", "write it, or leave the key out where that is allowed"
        case "value_error":
            return str(context["error"]), ""
        case _:
            return f"{problem['msg'][0].lower()}{problem['msg'][1:]}, not {shown(given)}", "write a value of that kind"


def shown(value: Any) -> str:
    """A value in a message: whole if it is short text, otherwise what kind of thing it is."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "…")
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)


def field_path(loc: Sequence[str | int], data: Any) -> str:
    """`claims[micikevicius2022-fp8-parity].scope`: list items are called by their id where they have one."""
    parts, here = "", data
    for step in loc:
        if step == "[key]":
            continue
        if isinstance(step, int):
            here = here[step]
            parts += f"[{here.get('id', step) if isinstance(here, dict) else step}]"
        else:
            here = here.get(step) if isinstance(here, dict) else None
            parts += f".{step}"
    return parts.removeprefix(".") or "the file"


def fields_at(shape: Any, loc: Loc) -> list[str]:
    """The keys that the schema allows at `loc`; empty where it allows any."""
    for step in loc:
        if isinstance(shape, type) and issubclass(shape, BaseModel):
            found = shape.model_fields.get(str(step))
            shape = found.annotation if found else None
        elif get_origin(shape) in (dict, list):
            shape = get_args(shape)[-1]
    return list(shape.model_fields) if isinstance(shape, type) and issubclass(shape, BaseModel) else []
