from leftoff.mcp.name_tools import name_tools
from rows import for_each


@for_each(
    ("said", "named"),
    [
        ("Run `leftoff list` to see all.", "Call `list` to see all."),
        ("Did you mean x? Run `leftoff list`.", "Did you mean x? Call `list`."),
        ("or run `leftoff show NAME`", "or call `show`"),
        ("Run `leftoff list --all` to see it.", "Call `list` with `all` true to see it."),
        ("Run `leftoff trash restore x`.", "Ask the user to run `leftoff trash restore x`."),
        ("then run `leftoff`.", "then call `status`."),
        # A tool that has the name of a command, but not its options.
        ("Run `leftoff show --raw x`.", "Ask the user to run `leftoff show --raw x`."),
        ("Run `leftoff snapshot restore x`.", "Ask the user to run `leftoff snapshot restore x`."),
        ("`git status` says more", "`git status` says more"),
    ],
)
def test_an_agent_without_a_shell_reads_of_tools(said: str, named: str) -> None:
    assert name_tools(said) == named
