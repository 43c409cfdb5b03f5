"""Command lines are split into what would run and what is only text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.hooks import shell_words
from rows import for_each


def words(text: str) -> list[str]:
    return [" ".join(command.words) for command in shell_words.commands(text)]


@for_each(
    ("text", "expected"),
    [
        ("ls -l", ["ls -l"]),
        ("a && b || c; d & e | f\ng", ["a", "b", "c", "d", "e", "f", "g"]),
        ("(a; b) && { c; }", ["a", "b", "c"]),
        ("git \\\n  push", ["git push"]),
        ("git 'push' \"-f\"", ["git push -f"]),
        ("git pu\\sh", ["git push"]),
        ("git $'push'", ["git push"]),
        ("echo 'a && b'", ["echo a && b"]),
        ('echo "a \\"b\\" c"', ['echo a "b" c']),
        ("a # b && c\nd", ["a", "d"]),
        ("a b#c", ["a b#c"]),
        ("a 2>&1 >/dev/null <in b", ["a b"]),
        ("a &> log && b", ["a", "b"]),
        ("a 2> log", ["a"]),
        ("x=`a` b", ["a", "b"]),
        ('echo "now $(a b) then"', ["a b", "echo now $() then"]),
        ("echo $(a $(b))", ["b", "a $()", "echo $()"]),
        ("echo '$(a)'", ["echo $(a)"]),
        ("echo ${a} $b", ["echo ${a} $b"]),
        ("diff <(a) <(b)", ["diff", "a", "b"]),
        ("X=1 Y=2 a", ["a"]),
        ("X=1", []),
        ("if a; then b; else c; fi", ["a", "b", "c", "fi"]),
        ("while ! a; do b; done", ["a", "b", "done"]),
        ("sudo -u bob env -i X=1 nice -n 5 a -f", ["a -f"]),
        ("timeout -k 3 10 a", ["a"]),
        ("sudo -- a", ["a"]),
        ("find . | xargs -n 1 a", ["find .", "a"]),
        ("bash -lc 'a && b'", ["a", "b"]),
        ("sh script.sh -c a", ["sh script.sh -c a"]),
        ("a | sh", ["a", "sh"]),
        (
            "find . -name x -exec a {} \\; -exec sh -c 'b' +",
            ["find . -name x -exec a {} ; -exec sh -c b +", "a {}", "b"],
        ),
        ("trap 'a; b' EXIT", ["a", "b"]),
        ("env -S 'a -b'", ["a -b"]),
        ("su -c 'a' ada", ["a"]),
        ("flock /tmp/lock a -b", ["a -b"]),
        ("eval 'a; b'", ["a", "b"]),
        ("cat <<END\na\nb\nEND\nc", ["cat", "c"]),
        ("cat <<'END' > file && b\na\nEND\nc", ["cat", "b", "c"]),
        ("cat <<-END\n\ta\n\tEND\nc", ["cat", "c"]),
        ("cat <<A <<B\na\nA\nb\nB\nc", ["cat", "c"]),
        ("cat <<< word b", ["cat b"]),
        ("bash <<END\na\nEND", ["a"]),
        ("a \"$(cat <<'END'\nDon't b\nEND\n)\" && c", ["cat", "a $()", "c"]),
    ],
)
def test_a_line_is_taken_apart_as_a_shell_does(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("text", ["", " ", "'", '"', "`", "$(", "${", "\\", "<<", "a <<b", "&>"])
def test_what_is_not_finished_is_not_trouble(text: str) -> None:
    words(text)


@given(st.text(alphabet="ab1 '\"\\\n$(){}`<>&|;#-=!\t", max_size=60) | st.text(max_size=60))
def test_any_text_can_be_taken_apart(text: str) -> None:
    words(text)


@pytest.mark.parametrize(
    "part", ["$(", "`$(", "(", "eval ", "sudo ", "bash -c 'x", '"$(', "a <<b;"]
)
def test_depth_is_bounded(part: str) -> None:
    assert len(words(part * 3_000)) < 10_000
