"""Save a checkpoint under a name, and warn about what is weak in it."""

from collections.abc import Sequence

import msgspec

from leftoff import statusline
from leftoff.checkpoint import Checkpoint, cut_to_limits, encode
from leftoff.errors import BelowQualityBar
from leftoff.names import check_name
from leftoff.redact import redact_value
from leftoff.store import SavedCheckpoint, Store
from leftoff.threads import autosaves
from leftoff.threads.quality import SOFT_CAP_BYTES, QualityFinding, lint


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint on disk, and the warnings about it."""

    saved: SavedCheckpoint
    warnings: list[str]


def save(
    store: Store, draft: Checkpoint, *, name: str, overwrite: bool = False, strict: bool = False
) -> Outcome:
    """Save a checkpoint under a name, and return warnings about what is weak in it."""
    named = msgspec.structs.replace(draft, name=check_name(name, strict=strict))
    # Redacted before it is cut: half a secret matches no pattern.
    kept, cut = cut_to_limits(redact_value(named))
    findings = lint(kept, store.project.worktree)
    if strict and findings:
        raise build_quality_error(findings)
    saved = store.save(kept, overwrite=overwrite)
    lessons = autosaves.lessons(store, saved.checkpoint)
    if kept.session_id:
        at = saved.checkpoint.saved_at.timestamp()
        statusline.update_last_save(
            str(store.project.state_folder), kept.session_id, kept.name or "", at
        )
    return Outcome(saved=saved, warnings=[*_warnings(saved, findings, cut), *lessons])


def build_quality_error(
    findings: Sequence[QualityFinding],
    *,
    hint: str = "Add what is missing, or save without --strict.",
) -> BelowQualityBar:
    """Build the error that names the broken rules of the quality bar."""
    rules = ", ".join(dict.fromkeys(finding.rule for finding in findings))
    return BelowQualityBar(
        f"The checkpoint is below the quality bar: {rules}",
        findings=[finding.message for finding in findings],
        hint=hint,
    )


def _warnings(
    saved: SavedCheckpoint, findings: Sequence[QualityFinding], cut: Sequence[str]
) -> list[str]:
    warnings = [finding.message for finding in findings]
    warnings += cut
    size = len(encode(saved.checkpoint))
    if size > SOFT_CAP_BYTES:
        warnings.append(f"exceeds 4 KB soft cap ({size} bytes) {saved.path}")
    if saved.notice is not None:
        warnings.append(saved.notice)
    return warnings
