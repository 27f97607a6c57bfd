"""Errors in responses: a status, a code, the scenario key in question, and a sentence."""

from __future__ import annotations

from typing import Any, final


@final
class RequestError(Exception):
    """A request that cannot be granted."""

    def __init__(self, status: int, code: str, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.key = status, code, message, key

    def as_json(self) -> dict[str, Any]:
        """Return the value of {"error": ...}."""
        return problem(self.code, self.message, self.key)


def problem(code: str, message: str, key: str | None = None) -> dict[str, Any]:
    """Return an error as JSON, with "?" for lone surrogates, which UTF-8 cannot hold."""
    return {"code": code, "key": None if key is None else _whole(key), "message": _whole(message)}


def _whole(text: str) -> str:
    return text.encode(errors="replace").decode()
