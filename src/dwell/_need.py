"""Libraries that not every installation has."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dwell.errors import InputError


def need(module: str, what: str, packages: str, *, code: str, advice: str = "") -> Any:
    """Import a module, or refuse with the command that installs it.

    Parameters
    ----------
    module : its dotted name.
    what : what needs it, with the verb, such as "plots need".
    packages : what pip installs, such as "matplotlib jinja2".
    code : of the error.
    advice : what to do instead, where pip does not install it.

    Returns
    -------
    module
        The module, imported.
    """
    try:
        return import_module(module)
    except ImportError as fault:
        package = module.partition(".")[0]
        says = f"{what} {package}, which is not installed; "
        says += advice or f"install it with: pip install {packages}"
        if not isinstance(fault, ModuleNotFoundError) or fault.name not in (module, package):
            says = (
                f"{what} {package}, which is installed but cannot be loaded ({fault}); a file "
                "beside your script that has the name of a module hides it, or the installation "
                "is damaged"
            )
        raise InputError(says, code=code) from fault
