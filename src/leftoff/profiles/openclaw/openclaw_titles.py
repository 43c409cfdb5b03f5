"""The titles of openclaw's fields and sections as language models spell and translate them."""

from collections.abc import Mapping

from leftoff.profiles.loose_headings import fold_title

FIELDS: Mapping[str, tuple[str, ...]] = {
    "Created": (
        *("Created at", "Created on", "Saved", "Saved at", "Date", "Timestamp"),
        *("Erstellt", "Erstellt am", "Gespeichert", "Créé", "Créé le", "Date de création"),
        *(
            "Creado",
            "Creado el",
            "Fecha",
            "Criado",
            "Criado em",
            "Creato",
            "Creato il",
            "Utworzono",
        ),
        *(
            "Создано",
            "Дата",
            "创建",
            "创建时间",
            "创建于",
            "保存时间",
            "作成",
            "作成日時",
            "生成日時",
        ),
        *("생성", "생성일", "생성 시각"),
    ),
    "Task": (
        *("Summary", "Task summary", "Current task", "Aufgabe", "Tâche", "Tarea", "Tarefa"),
        *("Attività", "Compito", "Zadanie", "Задача", "任务", "タスク", "作業", "작업", "과제"),
    ),
}
# Headings that name blockers together with something else.
_JOINED = tuple(
    f"Blockers{between}{other}"
    for between in (" and ", " & ", " / ", "/", ", ", " or ")
    for other in ("uncertainties", "risks", "issues", "questions", "open questions", "obstacles",
                  "problems", "unknowns", "pending decisions", "concerns")
)  # fmt: skip
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Progress": (
        *("Done", "Completed", "Progress so far", "Current progress", "What was done"),
        *("What was completed", "Completed work", "Work completed", "Done so far", "Status"),
        *("Current status", "Progress made", "Current state", "Fortschritt", "Erledigt"),
        *("Progrès", "Avancement", "Progreso", "Avance", "Progresso", "Avanzamento", "Postęp"),
        *("Прогресс", "Сделано", "进度", "进展", "已完成", "進捗", "進捗状況", "完了"),
        *("진행", "진행 상황", "완료"),
    ),
    "Next Action": (
        *("Next Actions", "Next Step", "Next Steps", "Exact next action", "Next", "What's next"),
        *("Immediate next action", "Immediate next step", "Exact next step", "Up next", "Next up"),
        *("Nächster Schritt", "Nächste Schritte", "Nächste Aktion", "Prochaine étape"),
        *("Prochaine action", "Prochaines étapes", "Siguiente paso", "Siguiente acción"),
        *("Próximo paso", "Próxima acción", "Próxima ação", "Próximo passo", "Próximos passos"),
        *("Prossima azione", "Prossimo passo", "Następny krok"),
        *("Следующее действие", "Следующий шаг", "Следующие шаги"),
        *(
            "下一步",
            "下一步行动",
            "下一步操作",
            "下一步动作",
            "次のアクション",
            "次のステップ",
            "次の作業",
        ),
        *("다음 작업", "다음 단계"),
    ),
    "Blockers": (
        *("Blocker", "Blocked", "Blocked by", "Blocked on", "Blocking", "Blocking on"),
        *("Blocking issues", "Current blockers", "Open blockers", "Known blockers", "Obstacles"),
        *("Issues", "Open issues", "Known issues", "Current issues", "Problems", "Open problems"),
        *("Known problems", "Uncertainties", "Risks", "Pending decisions", "Open decisions"),
        *("Waiting on", "Waiting for", "Hindernisse", "Probleme", "Offene Probleme", "Blockaden"),
        *("Blocages", "Points bloquants", "Problèmes", "Bloqueos", "Impedimentos", "Obstáculos"),
        *("Bloqueios", "Ostacoli", "Blocchi", "Blokady", "Przeszkody"),
        *("Блокеры", "Препятствия", "Проблемы"),
        *("阻塞", "阻塞项", "阻碍", "障碍", "卡点", "问题", "ブロッカー", "障害", "課題"),
        *("차단 요인", "블로커", "장애물"),
        *_JOINED,
    ),
    "Open questions": (
        *("Questions", "Open question", "Unanswered questions", "Offene Fragen"),
        *("Questions ouvertes", "Preguntas abiertas", "Questões em aberto", "Domande aperte"),
        *("Открытые вопросы", "未解决的问题", "待定问题", "未解決の質問", "미해결 질문"),
    ),
    "Key Decisions": (
        *("Decisions", "Key Decision", "Decisions made", "Important decisions", "Recent decisions"),
        *("Decisions and reasoning", "Decisions & reasoning", "Key decisions and reasoning"),
        *("Key decisions & reasoning", "Decisions and rationale", "Decisions & rationale"),
        *("Key decisions and rationale", "Key decisions & rationale", "Decision log"),
        *("Entscheidungen", "Wichtige Entscheidungen", "Décisions", "Décisions clés", "Decisiones"),
        *("Decisiones clave", "Decisões", "Decisões-chave", "Principais decisões"),
        *("Decisioni", "Decisioni chiave", "Kluczowe decyzje", "Решения", "Ключевые решения"),
        *(
            "关键决策",
            "决策",
            "重要决策",
            "主要な決定",
            "重要な決定",
            "決定事項",
            "주요 결정",
            "결정",
        ),
    ),
    "Relevant Context": (
        *("Context", "Relevant files", "Relevant file paths", "Files", "File paths"),
        *("Files and context", "Context and files", "Key context", "Important context"),
        *("Relevant context and files", "Relevant context & files", "Files & context"),
        *("Kontext", "Relevanter Kontext", "Contexte", "Contexte pertinent", "Contexto"),
        *("Contexto relevante", "Contesto", "Contesto rilevante", "Kontekst", "Контекст"),
        *(
            "相关上下文",
            "上下文",
            "関連コンテキスト",
            "コンテキスト",
            "関連情報",
            "관련 컨텍스트",
            "컨텍스트",
        ),
    ),
}
SPELLINGS = {
    title: frozenset(map(fold_title, (title, *others))) for title, others in SECTIONS.items()
}
"""The folded spellings of each section."""
FIELD_NAMES = {
    fold_title(each): title for title, others in FIELDS.items() for each in (title, *others)
}
"""The field that each folded spelling stands for."""
ORDER = ("Progress", "Next Action", "Blockers", "Key Decisions", "Relevant Context")
"""The sections of the template, in its order."""
