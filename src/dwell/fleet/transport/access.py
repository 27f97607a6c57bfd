"""Certificates of processes that use zenoh, and what each certificate permits.

Agent q may put under its own key alone, the observer under that of control messages, a router
passes everything on. A certificate with any other name permits nothing, and a process without one
cannot connect.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dwell.errors import InputError

_SPEAK = ["put", "delete", "reply", "declare_queryable", "liveliness_token"]
_LISTEN = ["declare_subscriber", "query", "declare_liveliness_subscriber", "liveliness_query"]


def certificates_of(folder: Path, name: str) -> dict[str, Any]:
    """The TLS settings of the process `name` with the certificates in a folder."""
    paths = {one: folder / one for one in ("ca.pem", f"{name}.pem", f"{name}.key")}
    missing = [one for one, path in paths.items() if not path.is_file()]
    if missing:
        says = f"{folder} holds no {', no '.join(missing)}"
        raise InputError(f"{says}; see python -m dwell.fleet.certificates", code="fleet.tls")
    authority, certificate, key = (str(path) for path in paths.values())
    return {
        "enable_mtls": True, "root_ca_certificate": authority,
        "listen_certificate": certificate, "listen_private_key": key,
        "connect_certificate": certificate, "connect_private_key": key,
        "verify_name_on_connect": False,  # certificates name agents; access control checks these
        "close_link_on_expiration": True,
    }  # fmt: skip


def access_control(base: str, agents: int) -> dict[str, Any]:
    """What each certificate permits in a run whose keys begin with `base`."""
    everything = [f"{base}/**"]
    own = {f"agent_{q}": [f"{base}/segment/{q}", f"{base}/alive/{q}"] for q in range(agents)}
    speak = {**own, "observer": [f"{base}/control"], "router": everything}
    rules = [_rule(f"of {name}", ["ingress"], _SPEAK, keys) for name, keys in speak.items()]
    rules.append(_rule("listen", ["ingress"], _LISTEN, everything))
    rules.append(_rule("pass", ["egress"], _SPEAK + _LISTEN, everything))
    return {
        "enabled": True, "default_permission": "deny", "rules": rules,
        "subjects": [{"id": name, "cert_common_names": [name]} for name in speak],
        "policies": [
            {"rules": [f"of {name}", "listen", "pass"], "subjects": [name]} for name in speak
        ],
    }  # fmt: skip


def _rule(name: str, flows: list[str], messages: list[str], keys: list[str]) -> dict[str, Any]:
    return {
        "id": name, "permission": "allow", "flows": flows, "messages": messages, "key_exprs": keys,
    }  # fmt: skip
