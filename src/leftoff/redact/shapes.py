"""Secrets told by their own shape: what an issuer prints is known, so no context is needed.

Most are one long run of letters, digits, `_`, `-`, `.` and `~`. Such runs are few in any text and
quick to find, so the table is tried only on them. A pattern must be linear in time.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple


class Span(NamedTuple):
    """Bytes `start` to `end` are a secret of this kind."""

    start: int
    end: int
    kind: str


RUNS: tuple[tuple[str, str], ...] = (
    # Models
    ("anthropic key", r"sk-ant-[\w-]{16,}"),
    ("openrouter key", r"sk-or-(?:v\d-)?[\w-]{16,}"),
    ("langfuse key", r"sk-lf-[\w-]{16,}"),
    ("openai key", r"sk-(?:proj|svcacct|admin|service|None)-[\w-]{16,}"),
    ("openai key", r"sk-[A-Za-z0-9]{20,}"),
    ("google key", r"AIza[\w-]{35}(?![\w+/-])"),
    ("google key", r"(?:ya29\.|GOCSPX-|AQ\.Ab)[\w-]{20,}"),
    ("google key", r"(?<=1//)0[\w-]{30,}"),
    ("huggingface token", r"(?:hf_|api_org_)[A-Za-z0-9]{30,}"),
    ("groq key", r"gsk_[A-Za-z0-9]{40,}"),
    ("xai key", r"xai-[A-Za-z0-9]{40,}"),
    ("perplexity key", r"pplx-[A-Za-z0-9]{40,}"),
    ("replicate token", r"r8_[A-Za-z0-9]{37,}"),
    ("cerebras key", r"csk-[a-z0-9]{40,}"),
    ("nvidia key", r"nvapi-[\w-]{40,}"),
    ("tavily key", r"tvly-[\w-]{20,}"),
    ("firecrawl key", r"fc-[0-9a-f]{32}\b"),
    ("pinecone key", r"pcsk_\w{40,}"),
    ("langsmith key", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("elevenlabs key", r"sk_[0-9a-f]{48}\b"),
    # Code hosts, packages, builds
    ("github token", r"gh[pousr]_[A-Za-z0-9]{30,}(?:[\w.-]{40,})?"),
    ("github token", r"github_pat_\w{22,}"),
    ("gitlab token", r"gl(?:pat|cbt|ptt|imt|rtr|ext|dt|rt|ft|wt|agent|s?oas?t?|ffct)-[\w.-]{20,}"),
    ("gitlab token", r"GR1348941[\w-]{20,}"),
    ("atlassian token", r"AT[ACS]TT3x[\w-]{20,}(?:=[0-9A-F]{8})?"),
    ("bitbucket token", r"ATBB[A-Za-z0-9]{24,}(?![A-Za-z0-9+/])"),
    ("npm token", r"npm_[A-Za-z0-9]{30,}"),
    ("pypi token", r"pypi-Ag[\w-]{40,}"),
    ("rubygems key", r"rubygems_[0-9a-f]{40,}"),
    ("nuget key", r"oy2[a-z0-9]{43}(?![A-Za-z0-9+/])"),
    ("clojars token", r"CLOJARS_[0-9a-z]{60}"),
    ("packagist token", r"packagist_[a-z]{3}_[0-9a-f]{60,}"),
    ("docker token", r"dckr_[op]at_[\w-]{20,}"),
    ("artifactory token", r"(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,})(?![A-Za-z0-9+/])"),
    ("circleci token", r"CCIP(?:AT|RJ)_[A-Za-z0-9]+_[0-9a-f]{40}"),
    ("buildkite token", r"bk(?:ua|ct|at|aj)_[A-Za-z0-9]{36,}"),
    ("sonar token", r"sq[upa]_[0-9a-f]{40}"),
    ("sourcegraph token", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    # Clouds and hosting
    ("aws access key", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9+/])"),
    ("aws key", r"ABSK[A-Za-z0-9]{24}[A-Za-z0-9+/]{60,}={0,2}"),
    ("aws key", r"(?:amzn\.mws\.[0-9a-f-]{36}|bedrock-api-key-[A-Za-z0-9]{12,}[\w+/=-]*)"),
    ("azure key", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b"),
    ("azure key", r"[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{27}\b"),
    ("azure secret", r"[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])"),
    ("alibaba key", r"LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9+/])"),
    ("digitalocean token", r"do[opr]_v1_[0-9a-f]{64}"),
    ("heroku key", r"HRKU-[\w-]{30,}"),
    ("cloudflare key", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{64,}"),
    ("cloudflare key", r"cf(?:ut|at|k)_[A-Za-z0-9]{36,}"),
    ("supabase key", r"sb(?:p_(?:v0_)?[0-9a-f]{40}|_secret_[\w-]{20,})"),
    ("vercel token", r"(?:vercel_blob_rw_\w{30,}|vc[pirak]_[A-Za-z0-9]{24,})"),
    ("netlify token", r"nf[pcoub]_[A-Za-z0-9]{36,}"),
    ("fly token", r"fm\d[a-z]?_[A-Za-z0-9]{12,}[\w+/=,-]{20,}"),
    ("render key", r"rnd_[A-Za-z0-9]{28,}"),
    ("planetscale token", r"pscale_(?:tkn|oauth|pw)_[\w.-]{30,}"),
    ("neon key", r"napi_[a-z0-9]{40,}"),
    ("databricks token", r"(?:dapi|dose|dkea)[0-9a-f]{32}(?:-\d)?\b"),
    ("vault token", r"hv[sbr]\.[\w-]{24,}"),
    ("vault token", r"s\.(?=[A-Za-z]*\d)[A-Za-z0-9]{24}\b"),
    ("terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    ("doppler token", r"dp\.(?:pt|st|ct|sa|said|scim|audit)\.[\w.-]{30,}"),
    ("pulumi token", r"pul-[0-9a-f]{40}"),
    ("prefect key", r"pn[ub]_[A-Za-z0-9]{36}"),
    ("tailscale key", r"tskey-[a-z]+-[\w-]{16,}"),
    ("onepassword token", r"ops_eyJ[\w-]{12,}[\w+/=-]{80,}"),
    ("password hash", r"(?<=\$2[abxy]\$\d\d\$)[\w.]{12,}[\w./]{30,}"),
    ("age key", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    # Chat and mail
    ("slack token", r"xox[a-z](?:-|\.xox[a-z]-)[A-Za-z0-9-]{16,}"),
    ("slack token", r"xapp-\d-[A-Za-z0-9-]{16,}"),
    ("discord token", r"[MNO](?=[\w-]{0,26}\d)[\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}"),
    ("telegram token", r"(?<=\d{8}:)AA[\w-]{33}(?![\w-])"),
    ("twilio key", r"SK[0-9a-f]{32}\b"),
    ("sendgrid key", r"SG\.[\w-]{16,24}\.[\w-]{16,64}"),
    ("brevo key", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("mailgun key", r"(?<![\w-])(?:pub)?key-[0-9a-f]{32}\b"),
    ("mailchimp key", r"[0-9a-f]{32}-us\d{1,2}\b"),
    ("resend key", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    # Money and shops
    ("stripe key", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}"),
    ("webhook secret", r"whsec_[\w+/=-]{24,}"),
    ("square token", r"sq0(?:atp|csp|idb|ids)-[\w-]{22,}"),
    # Base64 data is full of `AAA`, so this one may not touch its `+` and `/`.
    ("square token", r"(?<![+/])EAAA[\w-]{56,64}(?![\w+/=-])"),
    ("shopify token", r"shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32,}"),
    ("plaid token", r"access-(?:sandbox|development|production)-[0-9a-f-]{36}"),
    ("shippo token", r"shippo_(?:live|test)_[0-9a-f]{40}"),
    ("flutterwave key", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z-]{12,}"),
    ("easypost key", r"EZ[AT]K[A-Za-z0-9]{54}"),
    # Watching and working
    ("grafana token", r"gl(?:sa_[A-Za-z0-9]{32}_[0-9a-f]{8}|c_[A-Za-z0-9]{12,}[\w+/=-]{16,})"),
    ("grafana token", r"eyJrIjoi[A-Za-z0-9]{12,}[\w+/=-]{24,}"),
    ("newrelic key", r"(?:NR(?:AK|II|JS|RA|IQ)-[\w-]{16,}|[0-9a-f]{36}NRAL\b)"),
    ("sentry token", r"sntry[su]_[A-Za-z0-9]{12,}[\w+/=-]{16,}"),
    ("dynatrace token", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("posthog key", r"ph[xs]_[A-Za-z0-9]{30,}"),
    ("linear key", r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,}"),
    ("notion token", r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})"),
    ("airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("hubspot token", r"pat-[a-z]{2}\d-[0-9a-f-]{36}"),
    ("figma token", r"fig[dour]_[\w-]{36,}"),
    ("postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("contentful token", r"CFPAT-[\w-]{40,}"),
    ("dropbox token", r"sl\.(?:u\.)?[\w-]{100,}"),
    ("typeform token", r"tfp_[\w.-]{40,}"),
    ("facebook token", r"EAACEdEose0cBA[A-Za-z0-9]{20,}"),
    ("mapbox token", r"sk\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    ("jwt", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*){0,3}"),
)

# Shapes with other characters: a literal is looked up, then the pattern must match from there on.
# A group, if any, is the secret.
ANCHORED: tuple[tuple[str, str, str], ...] = (
    ("braintree token", "access_token$", r"access_token\$[a-z]+\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    ("azure signature", "sig=", r"(?<=[?&;])sig=([A-Za-z0-9%+/]{40,}={0,2})"),
    ("slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/([a-z]+/[\w/-]{20,})"),
    ("discord webhook", "/webhooks/", r"(?<=/api)/webhooks/(\d{10,}/[\w-]{40,})"),
    ("teams webhook", "webhook.office", r"webhook\.office\.com/webhookb2/([\w@./-]{40,})"),
    ("password hash", "$6$", r"(?<![\w$])\$6\$(?:rounds=\d+\$)?[\w./]{1,16}\$[\w./]{40,}"),
    ("password hash", "$argon2", r"\$argon2(?:id|i|d)\$v=\d+\$[\w=,]+\$[\w+/]{8,}\$[\w+/]{16,}"),
    ("vault unseal key", "Unseal Key ", r"Unseal Key \d+: ?([A-Za-z0-9+/=]{40,})"),
)

# No shape in the table is a shorter run; longer would miss an AWS access key.
_SHORTEST_RUN = 20
_RUN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~")
_TO_RUNS = bytes(ord("a") if byte in _RUN_BYTES else ord(" ") for byte in range(256))
_RUN = b"a" * _SHORTEST_RUN
_ANY = re.compile(f"(?<![A-Za-z0-9])(?:{'|'.join(pattern for _, pattern in RUNS)})".encode())
_ANCHORED = tuple(
    (literal.encode(), re.compile(pattern.encode()), kind) for kind, literal, pattern in ANCHORED
)
# Documentation shows a shape with a body that nobody could log in with.
_SPECIMEN = re.compile(rb"(?i)x{8}|\*{4}|\.{3}|[-_]your[-_]|[-_]here$|placeholder|redacted")


def find_shapes(data: bytes) -> Iterator[Span]:
    """Yield every secret that its own shape gives away."""
    for start, end in _long_runs(data):
        for found in _ANY.finditer(data, start, end):
            yield from _named(data, found.start())
    for literal, pattern, kind in _ANCHORED:
        at = data.find(literal)
        while at >= 0:
            if matched := pattern.match(data, at):
                yield Span(*matched.span(matched.lastindex or 0), kind)
            at = data.find(literal, at + 1)


def _long_runs(data: bytes) -> Iterator[tuple[int, int]]:
    # Searching for twenty equal bytes lets `find` skip ahead by twenty: 0.5 ms for a megabyte,
    # where a regular expression takes 6 ms.
    runs = data.translate(_TO_RUNS) + b" "
    start = runs.find(_RUN)
    while start >= 0:
        end = runs.find(b" ", start + _SHORTEST_RUN)
        yield start, end
        start = runs.find(_RUN, end)


@cache
def _each() -> tuple[tuple[str, re.Pattern[bytes]], ...]:
    # A hundred patterns take some milliseconds to compile, and most texts hold no secret.
    return tuple((kind, re.compile(pattern.encode())) for kind, pattern in RUNS)


def _named(data: bytes, start: int) -> Iterator[Span]:
    for kind, pattern in _each():
        if found := pattern.match(data, start):
            if not _SPECIMEN.search(found[0]):
                yield Span(*found.span(), kind)
            return
