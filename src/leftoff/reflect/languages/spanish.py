"""Corrections in Spanish. Accents are gone: `esta` is está as well."""

from leftoff.reflect.language import Language

SPANISH = Language(
    name="es",
    known_by="""
        el la los las un una de del que no en es y por para con se lo al usa usar uses utiliza
        siempre nunca jamas deja prefiero este esta proyecto nuestra nuestro usamos lugar vez
        mal esto eso yo nosotros mejor ahora adelante hagas pongas favor pero sino
    """,
    empty="""
        el la los las lo un una de del que no en es y o por para con se al yo tu nosotros esto
        eso este esta ese esa asi siempre nunca jamas usa use usar uses haz hagas haga hacer pon
        pongas deja de favor mejor vez lugar su ya mas otra nada todo aqui ahora adelante partir
        prefiero quiero
    """,
    parts={
        "ORDERS": r"""
            (?:usa|use|utiliza|utilice|haz|haga|pon|ponga|escribe|escriba|llama|llame|ejecuta|
              ejecute|corre|corra|sigue|siga|crea|cree|agrega|anade|deja|deje|prueba|instala|
              importa|guarda|nombra|respeta|emplea|manten|responde|contesta|revisa|pregunta)
        """,
        # What is done to code; `SOFT` ones may also be about how the product looks.
        "NEGATED": r"""
            (?:uses|use|utilices|utilice|hagas|haga|escribas|escriba|agregues|agregue|anadas|
              anada|crees|cree|instales|importes|ejecutes|subas|suba|inventes|asumas|comentes|
              dupliques|repitas|ignores|reescribas|mockees|hardcodees|commitees)
        """,
        "SOFT": r"""
            (?:pongas|ponga|cambies|cambie|modifiques|modifique|toques|toque|borres|borre|
              elimines|elimine|mezcles|omitas|renombres|metas|dejes|llames)
        """,
        "INFINITIVE": r"\w+(?:ar|er|ir)(?:lo|la|los|las)?",
        "PLACE": r"(?:proyecto|repo|repositorio|codigo|equipo|empresa)",
    },
    openers=r"""
        no(?:,|\.|!|:|;|$)
        (?:eso|esto|asi) (?:esta|es) (?:muy |todavia )?(?:mal|incorrecto|equivocado)
        (?:eso|esto|asi) no (?:(?:es )?(?:correcto|asi)|esta bien|es lo que (?:pedi|quiero|queria))
        (?:(?:eso|esto|asi) no|incorrecto|mal|para)(?=[,.!:;]|$)
        te (?:has equivocado|equivocaste|equivocas)
    """,
    fillers=r"""
        por favor|ok(?:ay)?|vale|bueno|y|pero|oye|mira|gracias|si|ademas|tambien|perdon|
          recuerda:|importante|como dije|otra vez|mejor|entonces
    """,
    high=r"""
        no NEGATED\b(?! of\b| case\b)(?! (?:el|la|los|las|esto|eso|esta|ese)\b) \S
        (?:debes |tienes que |hay que |hemos de )?(?:siempre|nunca|jamas) (?:debes |hay que |
          tienes que )?(?:se )?(?:ORDERS|NEGATED|SOFT|INFINITIVE|usamos|hacemos|ponemos|
          escribimos)\b \S
        (?:ORDERS) siempre \S
        (?:deja|dejen|deje|para|basta) (?:ya )?de INFINITIVE\b \S
        (?:a partir de ahora|de ahora en adelante|en adelante|en el futuro)\b,? (?!se\b|vamos\b|
          el\b|la\b)\S
        (?:ya )?te (?:dije|he dicho|pedi) que (?:no|siempre|nunca|uses)\b
    """,
    medium=r"""
        (?:yo )?(?:prefiero|preferiria|me gusta mas|me gustaria mas)\b
        (?:yo )?no (?:quiero|me gusta[n]?) (?!saber|ver|perder|el\b|la\b|esto\b|eso\b|que se)\S
        en (?:este|nuestro|el) PLACE,? (?:siempre |nunca |solo |no )?(?:se |usamos|utilizamos|
          hacemos|escribimos|ponemos|seguimos|preferimos|usa|todos|todas)
        (?:nuestra|nuestro|la) (?:convencion|norma|regla|estilo|estandar|politica|
          costumbre)(?: \S+){0,3}? es\b
        (?:nosotros )?(?:aqui )?(?:usamos|utilizamos|escribimos|seguimos) (?!esto\b|eso\b|
          lo\b)\S.*\b(?:para|en lugar de|en vez de|aqui|solo|siempre|no)\b
        (?:nosotros )?(?:aqui )?no (?:usamos|utilizamos|escribimos|hacemos|commiteamos|
          permitimos)\b \S
        no (?:NEGATED|SOFT)\b(?! of\b) \S
        no (?:debes|deberias|tenias que|debiste|hay que) \w+ \S
        evita INFINITIVE \S
    """,
    alternatives=r"""
        ^ORDERS .*\b(?:en (?:lugar|vez)(?: de)?|en su lugar|mejor|y no|, no)\b
        ^(?:en (?:lugar|vez) de) [^,]+, ORDERS\b
        ^no .+,? sino \S
        ^(?:debes|tienes que|hay que|deberias) (?:usar|utilizar|hacer|poner|
          escribir) .*\b(?:en (?:lugar|vez)|y no)\b
    """,
    orders=r"""
        ^ORDERS (?!lo\b|esto\b|eso\b|asi\b)\S.*\S
    """,
    requests=r"""
        (?:puedes|podrias|puede|me puedes) (?:por favor )?
    """,
    questions=r"""
        ^(?:¿|por que\b|que (?:es|hace|pasa|significa|tal)\b|como (?:se|puedo|hago|funciona)\b|
          cuando se\b|donde\b|quien\b|cual(?:es)?\b|deberiamos\b|debemos\b|podemos\b|puedo\b|
          hay (?!que\b)|es (?:posible|mejor|necesario)\b)
    """,
    one_off=r"""
        \btodavia\b|\baun\b|(?<!a partir de )(?<!de )\bahora\b(?! en adelante)|
          \bpor el momento\b|\bhoy\b|\bmanana\b|\besta vez\b|\bde momento\b
        \bhasta que\b|\bantes de que\b
        \b(?:este|esta|ese|esa) (?:pr|commit|rama|paso|tarea|cambio|caso|prueba|test|error|
          opcion|vez)\b
        \blineas? \d|\bpaso \d|#\d|\bopcion \w\b|\b(?:arriba|abajo)\b
    """,
    not_rules=r"""
        \bquizas?\b|\btal vez\b|\bno (?:se|estoy seguro|creo|te preocupes|pasa nada|
          hay problema|importa|funciona|sirve|aparece|entiendo|veo|olvides)\b|\ba lo mejor\b|
          \bpuede que\b
        ^(?:si|cuando|porque|como|mientras|aunque) (?!vayas\b|escribas\b|hagas\b)
        \bprefiero (?:la|el) (?:opcion|primera|segunda|primero|segundo|otra|otro)\b
        \b(?:si|cuando) (?:el|la|un|una) (?:usuario|cliente|boton|pagina|servidor|valor|lista)\b
    """,
    vague=r"""
        \b(?:esto|eso|asi|lo mismo|el otro|la otra|aquello)\b
    """,
)
