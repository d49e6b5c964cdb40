"""What goes wrong, as exceptions."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Type

if TYPE_CHECKING:
    from ._result import Result, Results


class Error(Exception):
    """What cannot be run, and why: a mistake in the program, its launch or its arguments."""

    code: str
    """`PLD1001`, as `palladion explain` takes it; empty where there is none."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text.rstrip("\n"))
        self.code = code


class Unsupported(Error):
    """What this version, or this machine, does not have."""


class InternalError(Error):
    """A bug of palladion."""


class FindingsError(AssertionError):
    """A launch is wrong: `Result.expect_clean`."""

    result: "Result | Results"

    def __init__(self, text: str, result: "Result | Results") -> None:
        super().__init__(text)
        self.result = result


_KINDS: Dict[str, Type[Error]] = {"mistake": Error, "unsupported": Unsupported, "internal": InternalError}


def raise_for(error: Dict[str, Any]) -> None:
    """Raises what the library answered."""
    if error["kind"] == "interrupted":
        raise KeyboardInterrupt
    raise _KINDS[error["kind"]](error["text"], error["code"])
