"""Whether Python code that a file names may be imported.

Importing a module runs it, so a name in a file is followed only where the user has handed over the
code as well:

- a scenario or sweep file may name modules beside it (in its folder, or in one within, links
  followed: those of the module, of the packages around it, and within the outermost of these);
- a run file, a journal or the folder of a sweep may name any, if this user has written it on this
  machine: such a file carries a seal made with a secret of the user, as Jupyter's notebooks do;
- all others with `--allow-code` (in Python `allow_code=True`) alone.

Scenarios that a Python program makes itself, of tables or objects, are its own.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .modules import file_of, importable_files, named_code, refused, source_file
from .problems import shown

if TYPE_CHECKING:
    from .schema import Scenario

OURS = ("dwell", "dwell.controllers")  # modules whose laws any file may name
OPTION = "--allow-code (in Python allow_code=True)"
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_ALLOWED: ContextVar[bool] = ContextVar("allowed", default=False)


@contextmanager
def code_allowed(allowed: bool) -> Iterator[None]:
    """Within, files may name any code if `allowed`."""
    before = _ALLOWED.set(_ALLOWED.get() or allowed)
    try:
        yield
    finally:
        _ALLOWED.reset(before)


def is_allowed(allow_code: bool = False) -> bool:
    """Whether files may name any code."""
    return allow_code or _ALLOWED.get()


def refuse_far_code(
    scenario: Scenario, written: Mapping[str, Any], folder: Path, allow_code: bool = False
) -> None:
    """Refuse a scenario file in `folder` that names modules which do not lie beside it.

    written : what the file holds; names that are not in it are the operator's own words.
    """
    texts = {text for _, text in _texts(written, "")}
    for key, name in named_code(scenario).items():
        if name in texts and (why := _far(name, folder, scenario.modules, allow_code)):
            raise refused(key, why)


def refuse_far_names(
    mapping: Mapping[str, Any], base: Scenario, folder: Path, allow_code: bool = False
) -> None:
    """Refuse a sweep file in `folder` that names such modules anywhere.

    base : the scenario of the sweep, which may be in a file of its own.
    """
    texts = [(key, text, key.rpartition(".")[2]) for key, text in _texts(mapping, "")]
    named = [(key, text) for key, text, last in texts if last != "name" and _NAME.fullmatch(text)]
    if is_allowed(allow_code) or not (named or named_code(base)):
        return
    for key, text, last in texts:
        if last == "modules" and not _within(Path(folder, text), folder):
            raise refused(key, f"is {shown(text)}, which is not within {folder}; {_add()}")
    for key, name in named:
        if why := _far(name, folder, _modules_in(mapping), allow_code):
            raise refused(key, why)


def _modules_in(mapping: Mapping[str, Any]) -> str | None:
    base = mapping.get("scenario")
    found = base.get("modules") if isinstance(base, Mapping) else None
    return found if isinstance(found, str) else None


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """All texts in a mapping, with their keys."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(str(name), key)
            yield from _texts(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, key)


def _far(name: str, folder: Path, modules: str | None, allow_code: bool) -> str:
    """Why code may not be imported for a file in `folder`; nothing if it may."""
    module = name.partition(":")[0]
    if is_allowed(allow_code) or module in OURS:
        return ""
    home = os.path.join(folder, modules or "")
    path = source_file(module, home)
    if path is None:
        put = f"put {file_of(module)} beside the scenario or run file"
        return f"is {shown(name)}, and {file_of(module)} is not in {home}; {put}, or {_add()}"
    for one in (path, *importable_files(module, home)):
        if not _within(one, folder):
            leads = f", a link to {one.resolve()}" if _within(one.parent, folder) else ""
            return f"is {shown(name)} of {one}{leads}, which is not within {folder}; {_add()}"
    return ""


def _add() -> str:
    return f"to run such code add {OPTION}"


def _within(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def withheld(
    scenario: Scenario,
    seal: object,
    what: str,
    sources: Mapping[str, str] | None = None,
    allow_code: bool = False,
) -> Scenario:
    """`scenario` as a file holds it; its code is not imported unless this user wrote the file.

    what : the file, for the sentence.
    sources : what else is sealed: the digests of the modules.
    """
    named = named_code(scenario)
    if not named or is_allowed(allow_code) or is_seal(seal_of(scenario, sources), seal):
        return scenario
    names = ", ".join(named.values())
    says = f"{what} was not written by this user on this machine, so its Python code ({names}) is "
    return scenario.withhold(f"{says}not imported; if you trust it, add {OPTION}")


def seal_of(scenario: Scenario, sources: Mapping[str, str] | None = None) -> str:
    """The seal of a file that this user writes; empty without code, or a place for a secret.

    It covers the code that is named, where it lies, its parameters, and the digests in `sources`.
    """
    named = named_code(scenario)
    if not named:
        return ""
    law = scenario.controller.model_dump(mode="json") if "controller.class" in named else None
    modules = {k: v for k, v in (sources or {}).items() if k.startswith("module ")}
    return sealed([named, scenario.modules, law, modules])


def sealed(content: Any) -> str:
    """The seal of this user for something that JSON can hold; empty without a secret."""
    secret = _secret()
    text = json.dumps(content, sort_keys=True, default=lambda value: value.item()).encode()
    return "" if secret is None else hmac.new(secret, text, "sha256").hexdigest()


def is_seal(made: str, given: object) -> bool:
    """Whether a seal that was `given` is the one that this user makes."""
    return bool(made) and isinstance(given, str) and hmac.compare_digest(made, given)


@lru_cache(maxsize=1)
def _secret() -> bytes | None:
    """The secret of this user, made when it is first needed; None where it cannot be kept."""
    with contextlib.suppress(OSError, RuntimeError):
        home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        path = Path(home, "dwell", "secret")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = path.with_name(f"secret-{os.getpid()}-{secrets.token_hex(4)}")
            temporary.touch(0o600)
            temporary.write_bytes(secrets.token_bytes(32))
            with contextlib.suppress(FileExistsError):  # another process was quicker
                os.link(temporary, path)
            temporary.unlink()
        found = path.read_bytes()
        return found if len(found) == 32 else None
    return None
