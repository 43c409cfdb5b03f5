"""The words for guardz's headings, fields and labels, as agents spell or translate them.

Case, numbers, emphasis and other signs do not count; the words themselves do.
"""

from leftoff.profiles.loose_markdown import fold
from leftoff.profiles.loose_titles import find_title

LEFT_OFF = "Left Off"
DONE = "Done This Session"
FAILED = "Failed Approaches"
FILES = "Modified Files"
DECISIONS = "Decisions"
NOTES = "Notes"
QUESTIONS = "Open Questions"
BLOCKERS = "Blockers"
NEXT = "Next"

_SPELLINGS = {
    LEFT_OFF: """
        where i left off, where we left off, where work left off, where it left off,
        where work stopped, stopped at, where things stand, left off at, last state, current state,
        là où le travail s'est arrêté, où le travail s'est arrêté, où on s'est arrêté,
        où en est le travail, point d'arrêt, état actuel, reprise, arrêté à,
        wo die arbeit aufhörte, wo ich aufgehört habe, wo wir aufgehört haben, wo es aufgehört hat,
        stehen geblieben, aufgehört bei, letzter stand, aktueller stand, stand der arbeit,
        hier ging es nicht weiter,
        dónde quedó, dónde quedó el trabajo, dónde lo dejé, dónde lo dejamos, punto de parada,
        estado actual, onde parou, onde parei, onde paramos, onde o trabalho parou, estado atual,
        dove eravamo rimasti, punto di arresto, stato attuale, waar gebleven, waar we gebleven zijn,
        где остановились, на чём остановились, текущее состояние,
        中断位置, 停止位置, 当前状态, 目前状态, 工作进度, 停在哪里, 中断した場所, 中断箇所,
        作業の中断点, 現在の状態, 중단 지점, 현재 상태""",
    DONE: """
        done, done so far, completed, completed this session, accomplished, accomplishments,
        accomplished this session, what was done, what was accomplished, work done, progress,
        fait, fait cette session, fait pendant cette session, fait durant cette session, réalisé,
        réalisations, accompli, terminé, ce qui a été fait, travail effectué,
        erledigt, in dieser sitzung erledigt, erledigt in dieser sitzung, fertig, geschafft,
        abgeschlossen, was erledigt wurde, fortschritt,
        hecho, hecho en esta sesión, completado, realizado, logros, progreso,
        feito, feito nesta sessão, concluído, realizações,
        fatto, fatto in questa sessione, completato, gedaan, gedaan in deze sessie,
        сделано, сделано в этой сессии, выполнено,
        已完成, 本次完成, 本次会话完成, 完成的工作, 完成事项, 完了, 完了した作業,
        このセッションで完了,
        このセッションで完了したこと, 완료, 완료한 작업""",
    FAILED: """
        failed, failures, failed attempts, what failed, what failed why, what failed and why,
        failed or abandoned, abandoned,
        abandoned approaches, failed abandoned approaches, what did not work, what didnt work,
        dead ends, approches échouées, approches abandonnées, approches infructueuses,
        approches qui ont échoué, échecs, tentatives échouées, ce qui n'a pas marché,
        ce qui n'a pas fonctionné, pistes abandonnées, essais infructueux,
        gescheiterte ansätze, fehlgeschlagene ansätze, verworfene ansätze, fehlgeschlagen,
        gescheitert, fehlversuche, was nicht funktioniert hat, was nicht ging, sackgassen,
        enfoques fallidos, intentos fallidos, enfoques descartados, lo que falló,
        lo que no funcionó, fallos, abordagens que falharam, abordagens fracassadas,
        tentativas fracassadas, o que não funcionou, approcci falliti, tentativi falliti,
        cosa non ha funzionato, mislukte pogingen, mislukte aanpakken, wat niet werkte,
        неудачные подходы, неудачные попытки, что не сработало,
        失败的尝试, 失败的方法, 失败方案, 失败尝试, 失敗したアプローチ, 失敗した方法,
        うまくいかなかったこと, 실패한 접근, 실패한 시도""",
    FILES: """
        files modified, changed files, files changed, files touched, files, modified, edited files,
        fichiers modifiés, fichiers changés, fichiers, geänderte dateien, bearbeitete dateien,
        dateien, archivos modificados, ficheros modificados, archivos, arquivos modificados,
        arquivos, file modificati, gewijzigde bestanden, bestanden, изменённые файлы, файлы,
        修改的文件, 已修改文件, 修改文件, 变更文件, 文件, 変更したファイル, 変更されたファイル,
        変更ファイル, ファイル,
        수정한 파일, 변경된 파일, 파일""",
    DECISIONS: """
        key decisions, decisions made, décisions, décisions prises, entscheidungen,
        getroffene entscheidungen, decisiones, decisiones tomadas, decisões, decisioni,
        beslissingen, решения, 决定, 决策, 決定事項, 결정""",
    NOTES: """
        context, relevant context, additional context, other notes, remarques, notizen,
        anmerkungen, notas, observações, appunti, notities, заметки, 备注, 笔记, メモ, 메모""",
    QUESTIONS: """
        questions, pending questions, pending decisions, open decisions, undecided,
        questions ouvertes, décisions en attente, offene fragen, offene entscheidungen,
        preguntas abiertas, preguntas pendientes, decisiones pendientes, perguntas em aberto,
        questões em aberto, domande aperte, open vragen, открытые вопросы, 待决问题, 未决问题,
        未解決の質問, 미해결 질문""",
    BLOCKERS: """
        blocked, blocked by, blocked on, blocking, blocages, points bloquants, bloqué par,
        blockiert, blockiert durch, blocker, bloqueos, bloqueado por, bloqueios, blocchi,
        препятствия, 阻塞, 阻碍, ブロッカー, 차단 요인""",
    NEXT: """
        next action, next step, next steps, what comes next, prochaine étape, prochaines étapes,
        prochaine action, nächster schritt, nächste schritte, próximo paso, próximos pasos,
        siguiente paso, próximo passo, próximos passos, prossimo passo, prossimi passi,
        volgende stap, следующий шаг, следующие шаги, 下一步, 次のステップ, 次の作業, 다음 단계""",
}


def _split(words: str) -> list[str]:
    return [fold(each) for each in words.split(",")]


TITLES = {
    spelling: title
    for title, others in _SPELLINGS.items()
    for spelling in (fold(title), *_split(others))
}
"""The heading that each folded spelling stands for."""

_FIELD_SPELLINGS = {
    "branch": """
        branch, git branch, branche, branche git, zweig, rama, ramo, ветка, 分支, ブランチ,
        브랜치""",
    "saved_at": """
        saved, saved at, saved on, date, timestamp, enregistré, enregistré le, sauvegardé,
        sauvegardé le, sauvé, gespeichert, gespeichert am, datum, guardado, guardado el, fecha,
        salvo, salvo em, salvato, salvato il, opgeslagen, opgeslagen op, сохранено, дата,
        保存, 保存时间, 保存于, 已保存, 时间, 保存日時, 日時, 저장, 저장됨, 저장 시각""",
    "plan": """
        plan, plan file, active plan, fichier de plan, plan actif, plandatei, aktiver plan,
        archivo del plan, plan activo, plano, piano, план, 计划, 计划文件, 計画, プラン, 계획""",
}
FIELDS = {spelling: key for key, others in _FIELD_SPELLINGS.items() for spelling in _split(others)}
"""The key that each folded name of a field stands for."""

WHY = (
    "why|why it failed|reason|because|pourquoi|raison|warum|grund|por qué|razón|motivo|por quê|"
    "perché|reden|причина|原因|理由|이유"
)
"""The labels of a reason, as a pattern."""
BECAUSE = "because|since|parce que?|car|weil|denn|porque|perché|poiché|omdat|потому что"
"""The words that begin a reason in the middle of a sentence, as a pattern."""

ORDER = (LEFT_OFF, DONE, FAILED, FILES)
"""The sections of the template, in its order."""


def find_field(name: str) -> str | None:
    """Return the key that the name of a field stands for, with or without its translation."""
    return FIELDS.get(fold(name)) or find_title(name, lambda each: FIELDS.get(fold(each)))[0]
