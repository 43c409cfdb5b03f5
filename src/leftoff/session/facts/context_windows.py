"""Look up a model's context window, for transcripts that do not state it."""

import re

_MILLION = 1_000_000
_CLAUDE = 200_000

# The first match wins.
_BY_MODEL: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"\[1m\]|-1m\b"), _MILLION),
    (re.compile(r"claude-(?:opus|sonnet|haiku|fable|mythos)-(?:[5-9]|\d\d)"), _MILLION),
    (re.compile(r"claude"), _CLAUDE),
    (re.compile(r"gemini-1\.5-pro"), 2_097_152),
    (re.compile(r"gemini"), 1_048_576),
    (re.compile(r"gpt-4\.1"), 1_047_576),
    (re.compile(r"gpt-5(?:\.\d+)?-chat"), 128_000),
    (re.compile(r"gpt-5|codex"), 272_000),
    (re.compile(r"gpt-4|gpt-oss"), 128_000),
    (re.compile(r"\bo[134](?:-|$)"), 200_000),
    (re.compile(r"grok-4-fast|grok-4\.1"), 2_000_000),
    (re.compile(r"grok|qwen|kimi|glm|minimax"), 256_000),
    (re.compile(r"deepseek|llama|mistral|devstral"), 128_000),
)


def window_of(model: str, tokens: int = 0) -> int:
    """Return the model's context window, at least the tokens in use; 0 if unknown."""
    name = model.lower()
    window = next((size for pattern, size in _BY_MODEL if pattern.search(name)), 0)
    # More tokens than the window holds means that the model's larger variant is in use.
    return _MILLION if window and window < tokens <= _MILLION else window
