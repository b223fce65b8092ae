"""The one exception that reaches a user: bad input, said in one line."""

from __future__ import annotations


class InputError(Exception):
    """Something the user gave cannot be used.

    The command line prints it as one line and exits with code 2; nothing has been written by then.

    Args:
        what: what is wrong, with the offending value.
        where: file, line and field, or the command-line option; empty if there is no place to name.
        mend: what to write instead.
    """

    def __init__(self, what: str, where: str = "", mend: str = "") -> None:
        self.what, self.where, self.mend = what, where, mend
        super().__init__(what, where, mend)

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.mend:
            parts.append(self.mend)
        return "; ".join(" ".join(part.split()) for part in parts)


def nearest(word: str, allowed: list[str]) -> str:
    """A hint for a mend: the closest allowed spelling if one is close, otherwise what is allowed."""
    from difflib import get_close_matches

    close = get_close_matches(word, allowed, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(sorted(allowed)[:12])
    return f"allowed: {shown}{', …' if len(allowed) > 12 else ''}"
