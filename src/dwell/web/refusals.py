"""What went wrong, for clients: a status, a code, the key it is about, and a sentence."""

from __future__ import annotations

from typing import Any, final

from dwell.errors import InputError


@final
class Refusal(Exception):  # noqa: N818 - a word for what it is
    """A request that is refused."""

    def __init__(self, status: int, code: str, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.key = status, code, message, key

    def as_json(self) -> dict[str, Any]:
        """The inside of {"error": ...}."""
        return problem(self.code, self.message, self.key)


def problem(code: str, message: str, key: str | None = None) -> dict[str, Any]:
    """What every error looks like; with "?" for halves of characters, which no text can hold."""
    return {"code": code, "key": None if key is None else _whole(key), "message": _whole(message)}


def _whole(text: str) -> str:
    return text.encode(errors="replace").decode()


def problem_of(fault: InputError) -> dict[str, Any]:
    """An input that dwell refused."""
    return problem(fault.code, str(fault), fault.key)
