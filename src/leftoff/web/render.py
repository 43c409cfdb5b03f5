"""Render pages: every text from the store is escaped, and shown without control characters."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlencode

import jinja2
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

import leftoff
from leftoff.checkpoint import address_user
from leftoff.digests import blake2b
from leftoff.names import suggest_name
from leftoff.store import CheckpointEntry, utc_now
from leftoff.text import plural
from leftoff.text.lookalikes import drop_unseen
from leftoff.threads.field_labels import format_trigger
from leftoff.web.access import Access
from leftoff.web.notices import NoticeBoard
from leftoff.web.site import Site

# The only files that the server gives out besides its pages.
ASSETS = {
    "leftoff.css": "text/css",
    "leftoff.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufeff]")
_LONG_CHARS = 20_000


def clean(value: object) -> object:
    """Return a value as it may be shown: without control and invisible characters, not too long.

    The templates pass everything that they print through this, and escape it afterwards.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    text = value if len(value) <= _LONG_CHARS else _shorten(value)
    if text.isascii() and text.isprintable():
        return text
    return drop_unseen(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text))


def _shorten(text: str) -> str:
    return f"{text[:_LONG_CHARS]}… ({len(text):,} characters; `leftoff show` prints all of them)"


def cut(text: str | None, most: int = 280) -> str:
    """Return a text on one line, not longer than a card can show."""
    words = " ".join((text or "")[: 4 * most].split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _is_paired(text: str) -> bool:
    return text.count("`") % 2 == 0 and "``" not in text


def name_of(entry: CheckpointEntry) -> str:
    """Return the name to show for a thread; version 0.1 gave autosaves none."""
    return entry.name or suggest_name([entry.task], entry.branch) or entry.id


def mark_commands(text: str) -> Markup:
    """Return an escaped text, with what is between backticks shown as code."""
    shown = str(clean(text))
    # In three backticks, or in one without its other half, nothing is between.
    parts = [escape(each) for each in (shown.split("`") if _is_paired(shown) else [shown])]
    return Markup("").join(
        Markup("<code>{}</code>").format(each) if number % 2 else each
        for number, each in enumerate(parts)
    )


def age(moment: datetime) -> str:
    """Return how long ago something was, in words."""
    return plural.age_in_words((utc_now() - moment).total_seconds())


def address(path: str, /, **values: object) -> str:
    """Return an address on this page with these values; empty ones are left out."""
    given = {key: str(value) for key, value in values.items() if value not in {None, "", False}}
    return f"{path}?{urlencode(given)}" if given else path


@cache
def read_asset(name: str) -> bytes:
    """Return one of the files in `ASSETS`."""
    return resources.files("leftoff.web").joinpath("static", name).read_bytes()


@cache
def asset_address(name: str) -> str:
    """Return the address of a file, which changes with its content."""
    digest = blake2b(read_asset(name), digest_size=8).hexdigest()
    return f"/assets/{name}?{digest}"


def _make_templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("leftoff.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        age=age,
        bytes=plural.format_bytes,
        commands=mark_commands,
        count=plural.format_count,
        cut=cut,
        for_user=address_user,
        local=plural.local,
        why=format_trigger,
    )
    made.globals.update(
        address=address,
        asset=asset_address,
        name_of=name_of,
        version=leftoff.__version__,
    )
    return made


_templates = _make_templates()


class Renderer:
    """Renders the pages of one site."""

    def __init__(self, site: Site, access: Access, notices: NoticeBoard) -> None:
        self._site = site
        self._access = access
        self._notices = notices

    def page(
        self, request: Request, template: str, values: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        """Render a page with its frame, or without it where a script asks for a part."""
        # Only a visit shows the notices; the scripts of an open page must not use them up.
        is_part = "x-part" in request.headers
        notices = [] if is_part else self._notices.take(self._access.csrf_of(request))
        back = address(request.url.path, **request.query_params)
        frame = {
            "site": self._site,
            "csrf": self._access.csrf_of(request),
            "notices": notices,
            "path": request.url.path,
            "back": back,
            "is_part": is_part,
            "params": request.query_params,
        }
        return HTMLResponse(render({**frame, **values}, template), status_code=status)


def render(values: Mapping[str, Any], template: str) -> str:
    """Render a template that needs no frame."""
    return _templates.get_template(template).render(**values)
