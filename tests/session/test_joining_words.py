"""Which of the open work a prompt continues, in the words that people type."""

from typing import NamedTuple

from leftoff.session.real_work import (
    asks_to_continue_any,
    begins_to_continue,
    begins_to_continue_with,
)
from rows import for_each


class Work(NamedTuple):
    name: str
    task: str
    next_action: str


COUPONS = Work(
    "add-coupon-codes-checkout",
    "Add coupon codes to the checkout",
    "Add a test for expired codes.",
)
EXPORTER = Work(
    "port-csv-exporter-streaming",
    "Port the CSV exporter to streaming writes",
    "Run pytest tests/test_export.py.",
)
LOGIN = Work("fix-flaky-login-test", "Fix the flaky login test", "Freeze the clock in conftest.py.")
ACCOUNT = Work(
    "users-cannot-email-plus",
    "Users cannot log in with an email that has a plus sign. Fix it.",
    "Run the tests.",
)
OPEN = {"coupons": COUPONS, "exporter": EXPORTER, "login": LOGIN}


def name_continued(prompt: str) -> str | None:
    """Return the work that a prompt names; `any` if it only asks to continue, None if it is new."""
    found = [name for name, work in OPEN.items() if begins_to_continue_with(prompt, *work)]
    if len(found) == 1:
        return found[0]
    if begins_to_continue(prompt) or asks_to_continue_any(prompt):
        return "any"
    return None


@for_each(
    ("prompt", "work"),
    [
        # to go on with some work, by its topic
        ("bitte fortfahren", "any"),
        ("los geht's", "any"),
        ("continuez", "any"),
        ("接着来", "any"),
        ("再開して", "any"),
        ("continue where we stopped yesterday", "any"),
        ("let's get back to work", "any"),
        ("finish what you started", "any"),
        ("let's finish this", "any"),
        ("resume exporter", "exporter"),
        ("jetzt weiter mit dem Exporter", "exporter"),
        ("weiter am Exporter", "exporter"),
        ("lass uns am Exporter weitermachen", "exporter"),
        ("on reprend l'exporter", "exporter"),
        ("resume downloads", None),
        ("weiter unten im Code fehlt ein Test", None),
        ("finish this sentence for the landing page", None),
        ("let's go on with the coupon codes", "coupons"),
        ("Let's continue with the coupon codes.", "coupons"),
        ("finish the coupon thing", "coupons"),
        ("please finish the coupon codes", "coupons"),
        ("let's finish the coupon code stuff", "coupons"),
        ("pick up the coupon work again", "coupons"),
        ("can you pick the coupon codes back up?", "coupons"),
        ("yes, go ahead with the coupon codes", "coupons"),
        ("yes go ahead with the coupons", "coupons"),
        ("ok, back to the coupons", "coupons"),
        ("back to coupons please", "coupons"),
        ("let's get back to working on the coupon codes", "coupons"),
        ("where were we with the coupon codes?", "coupons"),
        ("so where did we leave off with the coupons", "coupons"),
        ("how far are we with the coupon codes", "coupons"),
        ("what's left on the coupons?", "coupons"),
        ("what about the coupon codes?", "coupons"),
        ("next step for the coupon codes", "coupons"),
        ("do the next step on the coupons", "coupons"),
        ("the coupon codes", "coupons"),
        ("coupon codes please", "coupons"),
        ("the coupons one", "coupons"),
        ("add-coupon-codes-checkout", "coupons"),
        ("resume add-coupon-codes-checkout", "coupons"),
        ("good morning! let's carry on with the coupon codes", "coupons"),
        ("hi, back to the coupon codes", "coupons"),
        ("I'm back. Let's continue with the coupons", "coupons"),
        ("I want to keep working on the coupon codes today", "coupons"),
        ("continue with the coupon codes where we left off yesterday", "coupons"),
        ("continue with the coupon codes and add the expiry check", "coupons"),
        ("ok, back to the coupons, but skip the docs for now", "coupons"),
        ("let's go on with the coupons: the discount is rounded wrong", "coupons"),
        ("go on with the coupon codes\nuse Decimal for the prices", "coupons"),
        ("add coupon codes to the checkout", "coupons"),
        ("add the test for expired codes", "coupons"),
        ("keep going with the exporter", "exporter"),
        ("let us proceed with the csv export", "exporter"),
        ("return to the CSV exporter", "exporter"),
        ("continue porting the exporter", "exporter"),
        ("wrap up the csv exporter", "exporter"),
        ("work on the exporter", "exporter"),
        ("run pytest tests/test_export.py", "exporter"),
        ("resume the flaky login test", "login"),
        ("let's get the login test done", "login"),
        ("the login one", "login"),
        # to go on, without a topic
        ("do the next step", "any"),
        ("next step", "any"),
        ("ok do it", "any"),
        ("yes, go ahead", "any"),
        ("yep, let's do it", "any"),
        ("sounds good, go ahead", "any"),
        ("ok", "any"),
        ("let's finish it", "any"),
        ("pick it back up", "any"),
        ("where were we?", "any"),
        ("where did we stop", "any"),
        ("Continue, and run the tests afterwards", "any"),
        ("continue but use Decimal", "any"),
        ("good morning, please continue", "any"),
        ("continue with the implementation", "any"),
        # other languages
        ("weiter mit den coupon codes", "coupons"),
        ("ok, zurück zu den Coupons", "coupons"),
        ("mach die Coupons fertig", "coupons"),
        ("wo waren wir bei den Coupons?", "coupons"),
        ("nächster Schritt", "any"),
        ("mach bitte weiter", "any"),
        ("on continue avec les coupons", "coupons"),
        ("reprenons le exporter", "exporter"),
        ("termine les coupons", "coupons"),
        ("étape suivante", "any"),
        ("sigamos con los coupons", "coupons"),
        ("volvamos a los coupons", "coupons"),
        ("termina los coupons", "coupons"),
        ("siguiente paso", "any"),
        ("下一步", "any"),
        ("次のステップ", "any"),
    ],
)
def test_a_prompt_continues_the_work_that_it_means(prompt: str, work: str) -> None:
    assert name_continued(prompt) == work


@for_each(
    "prompt",
    [
        "fix the login bug",
        "fix the checkout",
        "the checkout page is broken",
        "finish the invoice printer",
        "back to the drawing board",
        "let's go on with the invoice printer",
        "continue with the parser",
        "pick up the latest version of React",
        "yes, fix the login bug",
        "ok, now add dark mode",
        "go ahead and delete the old branches",
        "do the dishes",
        "do the release",
        "next, write the changelog",
        "write a coupon generator",
        "remove the coupon codes",
        "delete the csv exporter",
        "explain the coupon codes",
        "the coupon codes are done",
        "forget the coupon codes",
        "don't continue with the coupon codes",
        "not the coupon codes",
        "stop working on the coupons",
        "how do the coupon codes work?",
        "add a coupon field to the invoice",
        "rename the exporter to writer",
        "test the search box",
        "work on the search box",
        "what about a dark theme?",
        "where were the logs stored?",
        "where is the checkout code?",
        "what is the status of the build?",
        "get the tests green",
        "complete the README",
        "resume the download after a failure",
        "keep the old API working",
        "hi",
        "good morning",
        "thanks!",
        "no",
        "no thanks",
        "what is 2+2?",
        "ok thanks",
        "mach die Suche fertig",
        "termine la documentation de l'API publique",
        "corrige el error del formulario",
        "修复登录页面的错误",
    ],
)
def test_other_work_continues_nothing(prompt: str) -> None:
    assert name_continued(prompt) is None


@for_each("prompt", ["finish the login thing", "back to the login bug", "the login one"])
def test_two_words_that_are_one_in_the_prompt_name_the_work(prompt: str) -> None:
    assert begins_to_continue_with(prompt, *ACCOUNT)
    assert not begins_to_continue_with(prompt, *COUPONS)
