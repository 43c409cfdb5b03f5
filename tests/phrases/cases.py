"""Sentences that are corrections, and sentences that only look like one, in six languages."""

HIGH = {
    "en": """
        don't put logic in controllers, always use services
        don't change the public API, always deprecate first
        Don't log secrets and always mask them
        no, use pnpm instead
        No, use pnpm instead of npm.
        nope, use `uv` instead of `pip`
        No. Use pnpm instead.
        That's wrong. Use tabs instead of spaces.
        Wrong, use snake_case, not camelCase
        Don't add comments to the code.
        don't mock the database
        do not use default exports
        you must not commit secrets
        stop adding emojis to commit messages
        always run the tests before committing
        ALWAYS ask before you delete files
        Never commit directly to main
        please never use `any` in TypeScript
        never edit generated files
        you should always use absolute imports
        From now on, write tests first
        write the summary in German from now on
        I told you not to use mocks
    """,
    "de": """
        Pack keine Logik in Controller, nimm immer Services
        Nein, nimm stattdessen pnpm
        Nein, verwende pnpm statt npm.
        Das ist falsch. Verwende Tabs statt Leerzeichen.
        Verwende niemals var in TypeScript
        Füge keine Kommentare hinzu
        Bitte immer die Tests vor dem Commit ausführen
        Hör auf, Kommentare hinzuzufügen
        Ab jetzt schreibst du Tests zuerst
        Du sollst nie direkt auf main committen
    """,
    "es": """
        No toques la API pública, siempre márcala como obsoleta
        No, usa pnpm en lugar de npm
        Eso está mal. Usa tabs en vez de espacios.
        No uses mocks en los tests
        Nunca hagas commit en main
        Siempre usa imports absolutos
        Deja de agregar comentarios
        A partir de ahora usa tabs
        Te dije que no uses mocks
        siempre responde en español
    """,
    "fr": """
        Ne mets pas de logique dans les contrôleurs, utilise toujours des services
        Non, utilise pnpm à la place
        Non, utilise plutôt pnpm que npm
        C'est faux. Utilise des tabulations au lieu d'espaces.
        N'utilise pas de mocks
        Ne commite jamais sur main
        Utilise toujours des imports absolus
        Arrête d'ajouter des commentaires
        Désormais, écris les tests d'abord
    """,
    "zh": """
        不要改动公共接口，必须先标记为弃用
        不对，用 pnpm 而不是 npm
        不，应该用 pnpm
        不要添加注释
        别用 any 类型
        永远不要直接提交到 main
        以后都要先写测试
        以后提交前都要先跑测试
        必须使用绝对路径导入
        停止添加表情符号
    """,
    "ja": """
        公開APIを変更しないで、必ず非推奨にしてください
        いや、npmではなくpnpmを使って
        違います。スペースではなくタブを使ってください
        コメントを追加しないでください
        常に絶対インポートを使ってください
        今後はテストを先に書いてください
        絶対にmainへ直接コミットしないで
        モックを使うのはやめてください
    """,
}

MEDIUM = {
    "en": """
        I prefer tabs over spaces
        I'd rather use composition than inheritance
        I always prefer small commits
        in this project we use pnpm
        our naming convention is kebab-case for files
        the rule is one class per file
        we use zod for validation
        We don't use default exports here
        use composition instead of inheritance
        can you stop adding comments?
        could you please always run the linter first?
        you shouldn't have deleted the migration files
        I don't want tokens in my own account
        avoid using any
        Don't run it through cat.
        don't rename the public functions
        No, put tests next to the sources.
    """,
    "de": """
        Ich bevorzuge Tabs
        Mir wären Tabs lieber
        In diesem Projekt verwenden wir pnpm
        Unsere Konvention ist kebab-case
        Wir verwenden zod für Validierung
        Bitte keine Emojis mehr
        Mach keine Animationen in die Kopfzeile
    """,
    "es": """
        Prefiero tabs
        En este proyecto usamos pnpm
        Nuestra convención es kebab-case
        Usamos zod para validar
        Aquí no usamos default exports
        No pongas bordes en las tarjetas
    """,
    "fr": """
        Je préfère les tabulations
        Dans ce projet on utilise pnpm
        Notre convention est kebab-case
        On utilise zod pour la validation
        Ne mets pas de bordures
    """,
    "zh": """
        我更喜欢 tabs
        这个项目里我们用 pnpm
        我们的命名规范是 kebab-case
        我们用 zod 来做校验
        不要改动原来的配色
    """,
    "ja": """
        タブの方がいいです
        このプロジェクトではpnpmを使います
        うちの命名規約はkebab-caseです
        私たちはバリデーションにzodを使っています
        ボタンの色を変更しないでください
    """,
}

NOTHING = {
    "en": """
        don't know why, it always fails here
        don't worry, always works for me
        should we never use any?
        should we always use pnpm
        why don't we use pnpm instead?
        Don't we do this with terraform?
        don't worry
        don't forget to update the docs
        never mind, I'll use uv instead
        it never works
        the test always fails
        This should never happen
        you always forget the tests
        don't commit yet
        don't push for now
        don't change anything, just tell me why
        Please don't commit anything else.
        don't do that
        stop it
        That's wrong.
        no
        No problem, go ahead
        no tests are failing
        It returns null instead of an empty list
        if the user is logged out, don't show the button
        users should never see this page
        I prefer option 2
        i prefer the classic so switch back
        I don't know
        I don't think we need it
        stop the server
        commit and push
        The docs say "never use any"
        fix `never use eval` in the rules file
        we don't need the auto strategy test
        maybe always use pnpm
        /review always run the tests
        no, i will verify manually
        No, max width should be 444px
    """,
    "de": """
        Keine Ahnung, immer derselbe Fehler
        Sollen wir niemals var verwenden?
        Der Test schlägt immer fehl
        Mach das nicht
        noch nicht committen
        kein Problem
        keine Ahnung
        Nein, es sind noch keine neuen Icons sichtbar.
        Bitte schreibe alles in eine Zeile
        immer noch der selbe Fehler
    """,
    "es": """
        no funciona, siempre falla igual
        ¿Nunca usamos mocks?
        No funciona
        el test siempre falla
        no hagas eso
        no te preocupes
        todavía no hagas commit
        ¿Siempre que levante el backend va a pasar eso?
        No, no me gustó
    """,
    "fr": """
        ça ne marche pas, toujours la même erreur
        Faut-il toujours utiliser pnpm ?
        ça ne marche pas
        le test échoue toujours
        pas de problème
        ne fais pas ça
        ne serait-il pas pertinent de le garder ?
        Je préfère la version A
    """,
    "zh": """
        为什么不用 pnpm？
        我们应该永远不用 any 吗？
        测试总是失败
        不要这样
        先不要提交
        没关系
        别忘了更新文档
        不用，帮我打包
    """,
    "ja": """
        ユーザーにこの画面を表示しないでください
        なぜpnpmを使わないのですか？
        テストが常に失敗します
        まだコミットしないで
        大丈夫です
        それはしないで
        いや、まだ表示されていますよ
        不要なファイルを消してください
        違う、元に戻して
    """,
}


def listed(table: dict[str, str]) -> list[tuple[str, str]]:
    """Return each sentence of a table with its language."""
    return [
        (language, line.strip())
        for language, lines in table.items()
        for line in lines.strip().splitlines()
    ]
