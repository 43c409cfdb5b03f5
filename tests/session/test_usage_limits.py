"""An agent's error says that a usage limit stopped it, and when that resets."""

from datetime import UTC, datetime

from leftoff.session.usage_limits import find_usage_limit
from rows import for_each

AT = datetime(2026, 11, 18, 4, 58, tzinfo=UTC)
RESETS = "a usage limit, which resets"
# The sources: C = seen with the program that the tests run, R = quoted in public reports.
ERRORS = {
    # Claude Code (R: anthropics/claude-code#58074, #74079, #6392, and of 2025)
    "You've hit your limit \u00b7 resets 1:20pm (America/Los_Angeles)": (
        f"{RESETS} at 1:20pm (America/Los_Angeles)"
    ),
    "You've hit your session limit \u00b7 resets 12:50am (Europe/Berlin)\n/login to switch": (
        f"{RESETS} at 12:50am (Europe/Berlin)"
    ),
    "5-hour limit reached \u2219 resets 5am": f"{RESETS} at 5am",
    "Claude AI usage limit reached|1735689600": f"{RESETS} at 2025-01-01 00:00 UTC",
    "rate_limit\nAPI Error: Request rejected (429)": "a rate limit",
    # C
    "429 This request would exceed your account's rate limit. Please try again later.": (
        "a rate limit"
    ),
    # Codex (C, and R: openai/codex#3899, #26668)
    "You\u2019ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
    "https://chatgpt.com/settings/usage to purchase more credits or try again at 9:58 AM.": (
        f"{RESETS} at 9:58 AM"
    ),
    "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try "
    "again in 5 days 22 hours 11 minutes.": f"{RESETS} at 2026-11-24 03:09 UTC",
    "You've hit your usage limit. Upgrade to Plus to continue using Codex "
    "(https://chatgpt.com/explore/plus), or try again at Jul 5th, 2026 8:19 PM.": (
        f"{RESETS} at Jul 5th, 2026 8:19 PM"
    ),
    # Gemini CLI (C, and R: google-gemini/gemini-cli#13004)
    "[API Error: You have exhausted your daily quota on this model.]": "a usage limit",
    "You have exhausted your capacity on this model. Your quota will reset after 8h44m7s.": (
        f"{RESETS} at 2026-11-18 13:42 UTC"
    ),
    '{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}': "a rate limit",
    # Copilot CLI (C, and R: github/copilot-cli#2144, microsoft/vscode#325598)
    "Failed to get response from the AI model; retried 5 times (total retry wait time: 60.05 "
    "seconds) Last error: 429 Sorry, you've hit a rate limit that restricts the number of Copilot "
    "model requests you can make within a specific time period. Please try again in 2 hours.": (
        "a rate limit, which resets at 2026-11-18 06:58 UTC"
    ),
    "Sorry, you've exceeded your 5 hour session limits. Please retry after 2733 seconds. "
    "(user_global_rate_limited:pro)": f"{RESETS} at 2026-11-18 05:43 UTC",
    # These are from opencode.
    "APIError\nToo Many Requests": "a rate limit",
    "Free limit reached": "a usage limit",
    "Usage limit reached. To continue": "a usage limit",
}
OTHERS = (
    "API Error: Connection error.",
    "400 invalid_request_error: prompt is too long",
    "The model limit of 8192 output tokens was reached",
    "Your credit card was declined",
)


@for_each(("error", "limit"), ERRORS.items())
def test_an_error_names_the_limit_and_when_it_resets(error: str, limit: str) -> None:
    assert find_usage_limit(error, AT) == limit


@for_each("error", OTHERS)
def test_another_error_is_not_a_limit(error: str) -> None:
    assert find_usage_limit(error, AT) == ""


def test_without_a_time_the_words_stay() -> None:
    assert find_usage_limit("Rate limit reached, try again in 2 hours.") == (
        "a rate limit, which resets in 2 hours"
    )
