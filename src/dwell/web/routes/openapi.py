"""The API as OpenAPI, and a page of it that needs neither scripts nor other sites."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from dwell.scenario import Scenario

SCENARIO = {"$ref": "#/components/schemas/Scenario"}
REFUSED = {"$ref": "#/components/schemas/Refused"}
ABOUT = (
    "Runs of coverage control as jobs. A scenario is what `dwell run` reads, as JSON; every error "
    "is {error: {code, key, message}} with a sentence. `GET /api/live?run=ID` is a websocket that "
    "streams the events of a run; docs/serving.md describes its messages."
)


def body(media: str, schema: dict[str, Any], about: str) -> dict[str, Any]:
    """The body of a request, for a route that reads it by itself."""
    return {
        "requestBody": {
            "required": True,
            "description": about,
            "content": {media: {"schema": schema}},
        }
    }


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI of `app`, with the format of scenarios in it."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, routes=app.routes, description=ABOUT
        )
        schemas = found.setdefault("components", {}).setdefault("schemas", {})
        own = Scenario.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(own.pop("$defs", {}))
        schemas["Scenario"] = own
        _errors_as_json(found)
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = found
    return app.openapi_schema


def _errors_as_json(described: dict[str, Any]) -> None:
    """Errors are JSON, also where the answer would be a text or a file."""
    for methods in described["paths"].values():
        for operation in methods.values():
            for code, answer in operation["responses"].items():
                if int(code) >= 400:
                    answer["content"] = {"application/json": {"schema": REFUSED}}


def page(described: dict[str, Any]) -> str:
    """All routes and schemas to be read."""
    info = described["info"]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(info['title'])} API</title>",
        '<link rel="stylesheet" href="/docs/style.css"></head><body><main>',
        f"<h1>{escape(info['title'])} {escape(info['version'])}: API</h1>",
        f"<p>{_words(info.get('description', ''))}</p>",
        '<p><a href="/">The page</a> · <a href="/openapi.json">openapi.json</a></p>',
        "<h2>Requests</h2>",
    ]
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            parts.append(_operation(path, method, about))
    parts.append("<h2>Schemas</h2>")
    for name, schema in sorted(described["components"]["schemas"].items()):
        parts.append(_schema(name, schema))
    parts.append("</main></body></html>")
    return "\n".join(parts)


def _words(text: str) -> str:
    """A text with its code marked as such."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def _operation(path: str, method: str, about: dict[str, Any]) -> str:
    parts = [
        f"<section><h3><code><b>{method.upper()}</b> {escape(path)}</code></h3>",
        f"<p>{_words(about.get('description') or about.get('summary', ''))}</p>",
    ]
    for given in about.get("parameters", []):
        kind = _kind(given.get("schema", {}))
        words = escape(given.get("description", ""))
        parts.append(f"<p><code>{escape(given['name'])}</code> {kind} {words}</p>")
    sent = about.get("requestBody")
    if sent:
        kinds = "; ".join(f"{m}: {_kind(c['schema'])}" for m, c in sent["content"].items())
        parts.append(f"<p>Body: {kinds}. {escape(sent.get('description', ''))}</p>")
    rows = "".join(
        f"<tr><td>{code}</td><td>{escape(answer.get('description', ''))}</td>"
        f"<td>{'; '.join(_kind(c.get('schema', {})) for c in answer.get('content', {}).values())}"
        "</td></tr>"
        for code, answer in about.get("responses", {}).items()
    )
    parts.append(f"<table>{rows}</table></section>")
    return "\n".join(parts)


def _schema(name: str, schema: dict[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{escape(key)}</code>{'' if key in needed else ' (optional)'}</td>"
        f"<td>{_kind(value)}</td><td>{escape(value.get('description', ''))}</td></tr>"
        for key, value in schema.get("properties", {}).items()
    )
    about = escape(schema.get("description", ""))
    return (
        f'<section id="{escape(name)}"><h3><code>{escape(name)}</code></h3><p>{about}</p>'
        f"<table>{rows}</table></section>"
    )


def _kind(schema: dict[str, Any]) -> str:
    """A type in few words, with a link to schemas that have a name."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[-1])
        return f'<a href="#{name}">{name}</a>'
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_kind(one) for one in schema[several])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}" if "items" in schema else "list"
    if "const" in schema:
        return f"<code>{escape(repr(schema['const']))}</code>"
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(one))}</code>" for one in schema["enum"])
    return escape(str(schema.get("type", "anything")))
