"""What attempts teach: failed ones become failures in memory, those that worked successes."""

from leftoff.features.steps import Try
from leftoff.features.values import Feature, Fix
from leftoff.store import Store


def learn(store: Store, item: Feature | Fix, what: Try) -> None:
    """Remember how an attempt went."""
    from leftoff import memory  # noqa: PLC0415 - looking at features needs none

    lesson = memory.Draft(
        kind="failure" if what.result == "failed" else "success",
        text=what.approach,
        why=what.root_cause or "; ".join(what.errors),
        impact=what.prevention,
        feature=item.id,
        sources=[item.id],
        files=list(item.related_files),
    )
    memory.add(store, [lesson])
