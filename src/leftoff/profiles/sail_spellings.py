"""Read the members of a sail checkpoint as agents spell them: other keys, lists, objects, fences.

sail's own members are texts and lists of texts. What an agent writes instead is read as the texts
that it stands for.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leftoff.profiles import sail_plans
from leftoff.profiles.json_codec import Plain, object_of
from leftoff.profiles.loose_words import says_nothing

MEMBERS = ("timestamp", "summary", "decisions", "next_action", "blockers", "context")
CONTEXT = ("active_plan", "active_plan_stage", "active_tdd_phase", "files_in_progress")

_SPELLINGS = {
    "summary": """
        task currenttask workingon currentlyworkingon currentwork what description
        zusammenfassung aufgabe résumé resumen resumo riassunto tarea tâche
        摘要 总结 概要 任务 要約 타스크 요약 задача сводка""",
    "decisions": """
        keydecisions decisionsmade decision entscheidungen décisions decisiones decisões decisioni
        决策 决定 关键决策 決定 決定事項 결정 решения""",
    "next_action": """
        next nextactions nextstep nextsteps nexttask nächsteraktion nächsteaktion nächsterschritt
        nächsteschritte prochaineaction prochaineétape siguientepaso siguienteacción próximaacción
        próximopaso próximaação próximopasso prossimaazione prossimopasso
        下一步 下一步行动 次のアクション 次のステップ 다음작업 следующийшаг""",
    "blockers": """
        blocker blockedby blockedon openissues blockaden hindernisse blocages bloqueos bloqueios
        ostacoli 阻塞 阻碍 障碍 ブロッカー 차단요인 блокеры""",
    "timestamp": """
        time savedat createdat date zeitstempel horodatage fecha 时间戳 时间 タイムスタンプ 시간""",
    "context": "kontext contexte contexto contesto 上下文 コンテキスト 컨텍스트 контекст",
    "active_plan": "plan planname",
    "active_plan_stage": "stage planstage currentstage",
    "active_tdd_phase": "tddphase tdd phase",
    "files_in_progress": """
        files filesmodified modifiedfiles inprogressfiles filestouched dateien fichiers archivos
        arquivos 文件 ファイル 파일 файлы""",
}


def _fold(key: str) -> str:
    bare = unicodedata.normalize("NFKD", key).casefold()
    letters = "".join(each for each in bare if not unicodedata.combining(each))
    return re.sub(r"[\W\d_]", "", unicodedata.normalize("NFC", letters))


_MEANING = {
    _fold(spelling): key
    for key, others in _SPELLINGS.items()
    for spelling in (key, *others.split())
}


def find_meaning(key: str) -> str | None:
    """Return sail's own name for a member; None if it is another one."""
    return _MEANING.get(_fold(key))


def respell(native: Plain) -> Plain:
    """Return the members under sail's own names, those of the context in the context."""
    read = {key: value for key, value in native.items() if value not in (None, "", [], {})}
    for key in [each for each in read if find_meaning(each) == "context" != each]:
        if isinstance(read[key], dict):
            read.setdefault("context", read[key])
    context = {**object_of(read.get("context"))}
    for place, known in ((read, MEMBERS), (context, CONTEXT)):
        for key, value in [*place.items()]:
            meaning = find_meaning(key)
            if key in MEMBERS or key in CONTEXT or meaning is None:
                continue
            if meaning in known:
                place.setdefault(meaning, value)
            elif meaning in CONTEXT:
                context.setdefault(meaning, value)
    for key in {*CONTEXT} & read.keys():
        context.setdefault(key, read[key])
    is_kept = context or not isinstance(read.get("context", {}), dict)
    return {**read, **({"context": context} if is_kept and context else {})}


# --- files that are almost JSON ---

_FENCED = re.compile(r"\s*(?:```|~~~)\w*\s*\n(.*)\n\s*(?:```|~~~)\s*", re.DOTALL)
_TEXT_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TEXT_OR_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


def load(data: bytes) -> Any:
    """Parse a file, also one in a fence, with comments or with trailing commas.

    Raise ValueError or RecursionError if it is not JSON in any of these forms.
    """
    text = data.decode("utf-8-sig", "replace")
    try:
        return _unwrap(json.loads(text))
    except ValueError as error:
        fenced = _FENCED.fullmatch(text)
        plain = _TEXT_OR_COMMENT.sub(_keep_text, fenced[1] if fenced else text)
        try:
            return _unwrap(json.loads(_TEXT_OR_COMMA.sub(_keep_text, plain)))
        except ValueError:
            raise error from None


def _keep_text(found: re.Match[str]) -> str:
    return found[1] or ""


def _unwrap(value: Any) -> Any:
    """Return the only checkpoint in a list or object, with what is said beside it."""
    if isinstance(value, list):
        return value[0] if len(value) == 1 else value
    inside = object_of(value)
    wrapped = [key for key, each in inside.items() if is_checkpoint(each) and key != "leftoff"]
    if len(wrapped) != 1 or is_checkpoint(value):
        return value
    return {
        **{key: each for key, each in inside.items() if key not in wrapped},
        **inside[wrapped[0]],
    }


def is_checkpoint(value: object) -> bool:
    """Return whether a value has members of a checkpoint."""
    return isinstance(value, dict) and not {*MEMBERS}.isdisjoint(respell(value))


def read_checkpoint(path: Path) -> Plain | None:
    """Read a checkpoint's file; None if it is not one."""
    try:
        found = load(sail_plans.read_limited(path))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


# --- values ---

_WHAT = ("what", "decision", "choice", "chosen", "chose", "title", "summary", "blocker", "issue")
_WHY = ("why", "rationale", "reason", "reasoning", "because")
_DECISION_KEYS = frozenset({*_WHAT, *_WHY})
_NAMES = ("path", "file", "name")


def list_values(value: object) -> list[Any]:
    """Return the values of a list or object that say something; a text alone is a list of one."""
    if isinstance(value, dict):
        is_one = not _DECISION_KEYS.isdisjoint(value)
        return [value] if is_one else [{key: each} for key, each in value.items()]
    found = value if isinstance(value, list) else [value]
    said = [each for each in found if each not in (None, "", [], {})]
    is_nothing = len(said) == 1 and isinstance(said[0], str) and says_nothing(said[0])
    return [] if is_nothing else said


def describe(value: object) -> str:
    """Return a text as it was typed, or what another value says in one line."""
    if isinstance(value, str):
        return value
    key = next((each for each in _WHAT if value.get(each)), None) if isinstance(value, dict) else ""
    if not key or not isinstance(value, dict):
        return (sail_plans.words(value) or "").replace("\n", ", ")
    rest = describe({each: said for each, said in value.items() if each != key})
    return f"{describe(value[key])} ({rest})" if rest else describe(value[key])


def read_decisions(value: object) -> list[Plain]:
    """Read the decisions of a list, or of an object that groups or explains them."""
    if not isinstance(value, dict) or not _DECISION_KEYS.isdisjoint(value):
        return [_read_decision(each) for each in list_values(value)]
    found: list[Plain] = []
    for key, each in value.items():
        if isinstance(each, list):
            found += [{"what": f"{key}: {describe(item)}"} for item in list_values(each)]
        else:
            found.append({"what": key, **({"why": describe(each)} if each else {})})
    return found


def _read_decision(value: object) -> Plain:
    """Read a decision as it was typed, or the object that some files contain."""
    if not isinstance(value, dict):
        return {"what": describe(value)}
    reasons = [describe(value[each]) for each in _WHY if value.get(each)]
    key = next((each for each in _WHAT if value.get(each)), None)
    rest = {each: said for each, said in value.items() if each not in {key, *_WHY}}
    if key is None:
        return {"what": describe(rest) or describe(value), **_with_why(reasons)}
    return {"what": describe(value[key]), **_with_why([*reasons, describe(rest)])}


def _with_why(reasons: list[str]) -> Plain:
    why = "; ".join(filter(None, reasons))
    return {"why": why} if why else {}


def list_paths(value: object) -> list[str]:
    """Return the paths of files in progress, whether they are texts, objects, or keys."""
    return [path for path, _ in _pair_files(value)]


def describe_files(value: object) -> Iterator[tuple[str, object]]:
    """Yield what is said about each file, besides its path."""
    yield from ((path, said) for path, said in _pair_files(value) if said)


def _pair_files(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and {*_NAMES}.isdisjoint(value):
        yield from value.items()
        return
    for each in list_values(value) if not isinstance(value, dict) else [value]:
        named = map(each.get, _NAMES) if isinstance(each, dict) else ()
        path = next(filter(None, map(sail_plans.text, named)), None)
        if path is None or not isinstance(each, dict):
            yield describe(each), None
        else:
            yield path, {key: said for key, said in each.items() if said != path}
