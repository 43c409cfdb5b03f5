from leftoff.torture.claims_ledger import Claim, Ledger, Observation, halves_in, text_of, tokens_in


def seen(**found: list[str]) -> Observation:
    return Observation(found=found)


def test_what_was_acknowledged_and_is_not_found_is_lost() -> None:
    ledger = Ledger(1)
    token = ledger.new_token()
    ledger.acknowledge([Claim("checkpoint", token)])

    assert ledger.differences(seen(checkpoint=[token])) == []
    assert ledger.differences(seen()) == [f"checkpoint {token} was acknowledged but is lost"]


def test_what_was_only_tried_may_be_there_or_not() -> None:
    ledger = Ledger(1)
    token = ledger.new_token()
    ledger.try_([Claim("memory", token)])

    assert ledger.differences(seen(memory=[token])) == []
    assert ledger.differences(seen()) == []


def test_what_nobody_wrote_must_not_appear() -> None:
    assert Ledger(1).differences(seen(note=["job-9-9z"])) == ["note job-9-9z was never written"]


def test_what_was_destroyed_must_not_come_back() -> None:
    ledger = Ledger(1)
    ledger.acknowledge([Claim("checkpoint", "job-1-1z")])
    ledger.destroy(["job-1-1z"], is_done=False)
    assert ledger.differences(seen()) == []

    ledger.destroy(["job-1-1z"], is_done=True)

    assert ledger.differences(seen(checkpoint=["job-1-1z"])) == [
        "checkpoint job-1-1z was destroyed but is back"
    ]


def test_a_register_holds_the_last_acknowledged_value_or_one_tried_since() -> None:
    ledger = Ledger(1)
    ledger.acknowledge([Claim("register", "budget=900")])
    ledger.try_([Claim("register", "budget=700")])

    assert ledger.differences(Observation(found={}, registers={"budget": "700"})) == []
    assert ledger.differences(Observation(found={}, registers={"budget": "900"})) == []
    assert ledger.differences(Observation(found={}, registers={"budget": "1500"})) == [
        "budget is '1500', not '700' or '900'"
    ]


def test_a_checkpoint_never_changes_its_bytes() -> None:
    ledger = Ledger(1)
    assert ledger.differences(Observation(found={}, digests={"a": "1"})) == []

    assert ledger.differences(Observation(found={}, digests={"a": "2"})) == [
        "the bytes of checkpoint a changed"
    ]


def test_a_copy_lives_on_its_own() -> None:
    ledger = Ledger(1)
    ledger.acknowledge([Claim("note", "job-1-1z")])
    copy = ledger.copy()

    ledger.acknowledge([Claim("note", "job-1-2z")])

    assert copy.acknowledged["note"] == {"job-1-1z"}


def test_half_a_text_is_known_by_its_missing_end() -> None:
    text = text_of("job-1-2z")

    assert tokens_in(text) == {"job-1-2z"}
    assert halves_in(text) == set()
    assert halves_in(text[:-3]) == {"job-1-2z"}
