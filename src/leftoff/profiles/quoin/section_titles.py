"""The titles of quoin's ten sections as language models spell and translate them."""

# In English, German, French, Spanish, Portuguese, Italian, Chinese and Japanese.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "Status": ("Statut", "Estado", "Stato", "状态", "状態", "ステータス"),
    "Current stage": (
        *("Current phase", "Stage", "Phase", "Aktuelle Phase", "Aktuelle Stufe"),
        *("Étape actuelle", "Phase actuelle", "Étape", "Etapa actual", "Fase actual"),
        *("Etapa atual", "Fase atual", "Fase attuale"),
        *("当前阶段", "阶段", "現在の段階", "現在のフェーズ"),
    ),
    "Active task": (
        *("Task", "Task name", "Current task", "Aktive Aufgabe", "Aktuelle Aufgabe", "Aufgabe"),
        *("Tâche active", "Tâche en cours", "Tâche", "Tarea activa", "Tarea actual", "Tarea"),
        *("Tarefa ativa", "Tarefa atual", "Tarefa", "Attività attiva", "Compito attivo"),
        *("当前任务", "活动任务", "任务", "アクティブなタスク", "現在のタスク", "タスク"),
    ),
    "Branch": (
        *("Git branch", "Current branch", "Zweig", "Aktueller Branch", "Branche", "Branche git"),
        *("Rama", "Rama actual", "Ramo", "分支", "当前分支", "Git 分支", "ブランチ"),
    ),
    "Last user intent": (
        *("Last intent", "User intent", "User's last intent", "Intent"),
        *("Letzte Absicht des Nutzers", "Letzte Absicht des Benutzers", "Letzte Absicht"),
        *("Letzte Nutzerabsicht", "Letzter Wunsch des Nutzers", "Letzter Auftrag"),
        *("Dernière intention de l'utilisateur", "Dernière intention", "Dernière demande"),
        *("Última intención del usuario", "Última intención", "Última petición"),
        *("Última intenção do usuário", "Última intenção", "Ultima intenzione dell'utente"),
        *("用户意图", "用户最后意图", "用户最后的意图", "最后的用户意图", "最近的用户意图"),
        *("ユーザーの意図", "最後のユーザーの意図"),
    ),
    "In-flight artifacts": (
        *("Artifacts", "In-flight artifact paths", "Artifact paths"),
        *("Laufende Artefakte", "Artefakte in Arbeit", "Artefakte", "Artefacts en cours"),
        *("Artefacts", "Artefactos en curso", "Artefactos", "Artefatos em andamento"),
        *("Artefatos", "Artefatti in corso", "Artefatti", "进行中的文件", "进行中的工件"),
        *("进行中的产物", "工件", "進行中の成果物", "成果物"),
    ),
    "Open questions": (
        *("Open question", "Questions", "Unresolved questions", "Offene Fragen", "Fragen"),
        *("Questions ouvertes", "Preguntas abiertas", "Preguntas", "Perguntas em aberto"),
        *("Perguntas abertas", "Questões em aberto", "Domande aperte", "未决问题", "未解决的问题"),
        *("待解决问题", "开放问题", "未解決の質問", "未解決の問題"),
    ),
    "Decisions made": (
        *("Decisions", "Key decisions", "Decisions made this session", "Getroffene Entscheidungen"),
        *("Entscheidungen", "Décisions prises", "Décisions", "Decisiones tomadas", "Decisiones"),
        *("Decisões tomadas", "Decisões", "Decisioni prese", "Decisioni", "已做决定"),
        *("已做的决定", "已做出的决定", "已做决策", "决策", "决定", "決定事項", "決定"),
    ),
    "Unfinished work": (
        *("Remaining work", "Unfinished", "Remaining", "Work remaining", "Still to do"),
        *("Unerledigte Arbeit", "Unfertige Arbeit", "Offene Arbeit", "Offene Arbeiten"),
        *("Verbleibende Arbeit", "Noch zu tun", "Travail restant", "Travail inachevé"),
        *("Reste à faire", "Trabajo pendiente", "Trabajo sin terminar", "Trabajo inacabado"),
        *("Trabalho pendente", "Trabalho inacabado", "Lavoro rimanente", "Lavoro incompiuto"),
        *("未完成的工作", "未完成工作", "剩余工作", "未完了の作業", "残りの作業"),
    ),
    "Restore hint": (
        *("Hinweis zum Wiederherstellen", "Wiederherstellungshinweis", "Indice de reprise"),
        *("Pour reprendre", "Pista de restauración", "Cómo restaurar", "Dica de restauração"),
        *("恢复提示", "恢复方法", "復元のヒント"),
    ),
}
# Sections that only a session's file has.
STATE_SPELLINGS: dict[str, tuple[str, ...]] = {
    "Completed in this session": (
        *("Completed", "Completed this session", "Done", "In dieser Sitzung erledigt", "Erledigt"),
        *("Terminé dans cette session", "Terminé", "Completado en esta sesión", "Completado"),
        *("Concluído nesta sessão", "Completato in questa sessione", "本次会话已完成"),
        *("本会话已完成", "已完成", "このセッションで完了", "完了"),
    ),
    "Cost": ("Kosten", "Coût", "Coste", "Costo", "Custo", "成本", "费用", "コスト"),
}
