"""Each row of the tables is its own test: the shape is cut out, the near miss stays whole."""

from filled_shapes import fill
from leftoff.redact import redact
from leftoff.redact.issuers import ROWS
from leftoff.redact.rule_index import ANCHORED
from leftoff.redact.shapes import Span, find_shapes
from leftoff.redact.template import openings, solid_part
from redact_cases import ALNUM, made_up
from rows import for_each

ALL_ROWS = [*ROWS, *ANCHORED]
WRAPPINGS = [
    "The one we used is {} and it worked.",
    '{{"items": ["{}", "b"]}}',
    "echo '{}' | tee x\n",
    "{}",
]


def found_in(text: str) -> list[tuple[str, str]]:
    data = text.encode()
    return [(kind, data[start:end].decode()) for start, end, kind in find_shapes(data)]


@for_each(("kind", "shape", "miss"), ALL_ROWS)
def test_each_row_finds_its_shape_and_leaves_its_near_miss(
    kind: str, shape: str, miss: str
) -> None:
    for seed in range(3):
        text, secret = fill(shape, seed)
        for wrapping in WRAPPINGS:
            assert (kind, secret) in found_in(wrapping.format(text))
    assert found_in(f"see {fill(miss)[0]} there") == []


UNKNOWN = [
    "acme_<36 alnum>",
    "acme_live_<24 alnum>",
    "acme-pat-<24 alnum>",
    "acmesk_<40 hex>",
    "acme_api_key_<32 hex>",
    "acme.prod.<40 alnum>",
    "ACME-<40 alnum>",
    "acme_v1_<43 alnum>==",
    "token-<uuid>",
    "acmekey-<uuid>",
]


@for_each("shape", UNKNOWN)
def test_a_kind_that_no_table_knows_is_found_by_looking_issued(shape: str) -> None:
    text = fill(shape)[0]

    assert found_in(f'use "{text}" now') == [("token", text)]


HARMLESS = [
    "<40 hex>",
    "<64 hex>",
    "<uuid>",
    "sha512-<86 alnum>==",
    "sha256:<64 hex>",
    "sha256=<43 alnum>",
    "h1:<43 alnum>=",
    "chunk-<20 hex>.js",
    "main.<20 hex>.css",
    "assets/index-<8 alnum>.js",
    "commit_<40 hex>",
    "docker-<64 hex>",
    "vpc-0<16 hex>",
    "toolu_01<22 alnum>",
    "ses_e1<10 hex><14 alnum>",
    "prt_1e<10 hex><14 alnum>",
    "msg_01<22 alnum>",
    "req_011<21 alnum>",
    "chatcmpl-<29 alnum>",
    "call_<24 alnum>",
    "PVTI_lAHO<22 alnum>",
    "PR_kwDO<12 alnum>",
    "site-verification_<64 hex>",
    "video-upload__<30 hex>",
    "a/b.py,sha256=ab1C-YC<35 alnum>,5177",
    "<10 lower>-<40 hex>.tar.gz",
    "virtual:<64 hex>",
    "pnpm/<10 lower>@1.2.3_<32 hex>",
    "test_reads_2_files_and_3_folders_in_one_go",
    "TestHTTP2ServerClosesConnectionAfter3Errors",
    "SEC_PKCS12X509CertCRLStr",
    "NID_pbe_WithSHA1And40BitRC2_CBC",
    "_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE",
    "numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "sk-folding-cube-2-child-element-wrapper",
    "2026-11-16T10-47-33-settle-pid-12345-log",
    "btn-primary-lg-2x-hover-outline-focus",
    "AAAAB3NzaC1yc2EAAAADAQABAAABgQC+<20 alnum>/<20 alnum>",
]


@for_each("shape", HARMLESS)
def test_hashes_ids_and_names_stay_whole(shape: str) -> None:
    for seed in range(20):
        assert found_in(f"see {fill(shape, seed)[0]}, then go on") == []


SPECIMENS = [
    "sk-your-api-key-goes-here",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "glpat-replace-with-your-token",
    "AKIAXXXXXXXXXXXXXXXX",
    "sk_live_placeholder_for_the_key",
]


@for_each("text", SPECIMENS)
def test_what_documentation_shows_in_place_of_a_secret_stays(text: str) -> None:
    assert found_in(f"export KEY={text}") == []


@for_each("shape", ["AKIA<16 upper>", "sk-ant-<40 alnum>-your-key-here", "ghp_<36 alnum>"])
def test_a_word_of_documentation_does_not_protect_a_real_secret(shape: str) -> None:
    text = fill(shape)[0]

    assert [secret for _, secret in found_in(f"example: {text} # placeholder")] == [text]


@for_each("before", ["", "x=", "my_", "key-", '"', "(", ":", ">", ",", "/", "@"])
@for_each("after", ["", "\n", '"', ")", "<", ",", ";", "&", "'", "]"])
def test_a_secret_is_found_between_any_two_marks(before: str, after: str) -> None:
    secret = fill("ghp_<36 alnum>")[0]

    assert found_in(f"{before}{secret}{after}") == [("github token", secret)]


def test_a_long_secret_is_cut_out_to_its_end() -> None:
    secret = fill("eyJ<40 alnum>.eyJ<900 alnum>.<9000 alnum>")[0]

    assert found_in(f"Bearer {secret} sent") == [("jwt", secret)]


def test_a_run_of_openings_is_not_looked_at_again_and_again() -> None:
    spans = list(find_shapes(b"sk_live_" * 20_000))

    assert spans == [] or spans[-1] == Span(spans[-1].start, 160_000, spans[-1].kind)


def test_json_in_a_data_address_is_not_a_web_token() -> None:
    embedded = "eyJ" + "2ZXJzaW9uIjozLCJzb3VyY2VzIjpb" * 8
    token = (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzb21lIjoicGF5" + "bG9hZCJ9.4twFt5NiznN84AWoo1d7"
    )

    assert found_in(f"data:application/json;charset=utf-8;base64,{embedded}") == []
    assert found_in(f"cursor: {embedded}") == []
    assert [kind for kind, _ in found_in(f"data:text/plain;base64,{token}")] == ["jwt"]


def test_every_row_is_written_once() -> None:
    shapes = [shape for _, shape, _ in ALL_ROWS]

    assert sorted(shapes) == sorted(set(shapes))


@for_each("row", ROWS)
def test_what_follows_an_opening_is_as_solid_as_the_index_says(row: tuple[str, str, str]) -> None:
    filled, _ = fill(row[1])
    opening = max((text for text in openings(row[1]) if filled.startswith(text)), key=len)
    solid = solid_part(row[1])

    assert not solid or filled[len(opening) : len(opening) + solid].isalnum()


def test_a_secret_is_cut_to_its_end_even_if_its_issuer_uses_more_characters() -> None:
    head, tail = made_up(ALNUM, 24), made_up(ALNUM, 20)

    for joint in "-_+/":
        assert redact(f"sk_live_{head}{joint}{tail} now") == "[redacted: stripe key] now"
    assert redact(f"/bot/sk_live_{head}/send-message") == "/bot/[redacted: stripe key]/send-message"


def test_a_token_of_azure_devops_is_cut_but_not_a_hash_of_nix() -> None:
    token = made_up("abcdefghijklmnopqrstuvwxyz234567", 52)
    nix = made_up("0123456789abcdfghijklmnpqrsvwxyz", 52)

    assert redact(f"used {token} today") == "used [redacted: azure token] today"
    assert redact(f"used {nix} today") == f"used {nix} today"
