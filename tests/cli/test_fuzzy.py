from leftoff.cli.fuzzy import rank_matches

TEXTS = ["login-form Validate the form", "csv-export Export orders", "cart Round the totals"]


def test_no_words_match_everything_in_its_order() -> None:
    assert rank_matches("", TEXTS) == [0, 1, 2]
    assert rank_matches("  ", TEXTS) == [0, 1, 2]


def test_letters_in_order_match() -> None:
    assert rank_matches("lgn", TEXTS) == [0]
    assert rank_matches("CSVEX", TEXTS) == [1]
    assert rank_matches("zz", TEXTS) == []


def test_every_word_must_match_in_any_order() -> None:
    assert rank_matches("orders csv", TEXTS) == [1]
    assert rank_matches("orders cart", TEXTS) == []


def test_whole_words_come_before_parts_and_these_before_loose_letters() -> None:
    assert rank_matches("port", ["important", "p-o-r-t", "the port"]) == [2, 0, 1]


def test_letters_far_apart_do_not_match() -> None:
    assert rank_matches("lz", [f"l{'a' * 40}z"]) == []


def test_signs_are_taken_literally() -> None:
    assert rank_matches("(.*", ["a(.*)", "abc"]) == [0]
