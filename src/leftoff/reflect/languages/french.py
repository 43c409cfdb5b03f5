"""Corrections in French. Accents are gone: `arrete` is arrête."""

from leftoff.reflect.language import Language

FRENCH = Language(
    name="fr",
    known_by="""
        le la les un une des de du et est pas ne je tu nous vous on que qui pour dans avec non
        toujours jamais utilise utiliser plutot lieu ce cette projet notre arrete prefere c'est
        n'utilise faut il en au sur mais desormais s'il n'ajoute
    """,
    empty="""
        le la les l un une des de du d et est pas ne n je tu nous vous on que qui pour dans avec
        non toujours jamais ca cela ce cette plus utilise utiliser fais faire faites mets plutot
        lieu place a au en il faut dois s'il te plait arrete desormais prefere ici comme y meme
    """,
    parts={
        "ORDERS": r"""
            (?:utilise[zr]?|emploie|employez|fais|faites|mets|mettez|ecri[st]|ecrivez|
              appelle[zr]?|lance[zr]?|execute[zr]?|suis|suivez|cree[zr]?|ajoute[zr]?|garde[zr]?|
              prends|prenez|teste[zr]?|installe[zr]?|importe[zr]?|nomme[zr]?|place[zr]?|
              prefere[zr]?|respecte[zr]?)
        """,
        "ELIDED": r"""
            (?:utilise[zr]?|ajoute[zr]?|ecri[st]|ecrivez|importe[zr]?|installe[zr]?|
              invente[zr]?|efface[zr]?|execute[zr]?|appelle[zr]?|emploie|employez|oublie)
        """,
        # What is done to code; `SOFT` ones may also be about how the product looks.
        "ACTED": r"""
            (?:utilise|fais|faites|commite|pousse|cree|lance|duplique|ajoute|repete|commente|mocke|
              suppose|devine|reecris|ignore|code|rajoute|genere|copie)(?:[zr]|s)?
        """,
        "SOFT": r"""
            (?:met|mets|mettez|mettre|touche|modifie|change|supprime|renomme|melange|laisse|place|
              nomme|casse)(?:[zr]|s)?
        """,
        "PLACE": r"(?:projet|repo|depot|codebase|code|equipe|entreprise)",
    },
    openers=r"""
        non(?=[,.!:; ]|$)|(?:c'est|cela est|ca c'est) (?:toujours |completement )?(?:faux|
          incorrect|pas (?:ca|bon|correct|juste|ce que je (?:veux|voulais|demandais?)))|
          ce n'est pas (?:ca|bon|correct|juste|ce que je (?:veux|voulais|demandais?)|
          ce que j'ai demande)|(?:faux|incorrect|stop)(?=[,.!]|$)|pas comme (?:ca|cela)(?=[,.!]|
          $)|tu te trompes|tu t'es trompe
    """,
    fillers=r"""
        s'il (?:te|vous) plait|stp|svp|ok(?:ay)?|bon|bien|alors|et|mais|oui|merci|aussi|au fait|
          desole|important|rappel|comme (?:je l'ai )?dit|encore une fois|en fait|attends
    """,
    high=r"""
        n'ELIDED (?:surtout )?(?:pas|jamais|plus)\b(?! (?:le|la|les|ce|cette|ca)\b) \S
        ne SOFT jamais \S
        ne ACTED (?:surtout )?(?:pas|jamais|plus)\b(?! (?:le|la|les|ce|cette|ca)\b) \S
        ne (?:pas|jamais|plus) ACTED\b(?! (?:le|la|les|ce|cette|ca)\b) \S
        (?:tu dois |il faut |vous devez |on doit )?toujours ORDERS\b \S
        ORDERS toujours \S
        (?:il (?:ne )?faut|tu (?:ne )?dois|vous (?:ne )?devez|on (?:ne )?doit) (?:jamais|
          toujours) \w+ \S
        jamais (?:de |d')\S+|arrete[zr]? (?:de |d')\w+ \S
        (?:desormais|dorenavant|a partir de maintenant|a l'avenir)\b,? (?!il y\b|le\b|la\b|
          ce\b)\S
        je t'ai (?:deja )?(?:dit|demande) (?:de ne (?:pas|jamais)|de toujours|d'utiliser)\b
    """,
    medium=r"""
        (?:moi,? )?je (?:prefere|prefererais|preferais)\b|j'aime(?:rais)? mieux\b
        je (?:ne )?veux (?:pas|plus) (?:de |d')(?!ca\b)\S
        dans (?:ce|notre|le) PLACE,? (?:on|nous|il faut|utilise|toujours|jamais|tous|toutes)\b
        (?:notre|nos|la) (?:convention|regle|style|norme|standard|politique|
          pratique)s?(?: \S+){0,3}? (?:est|sont|c'est)\b
        (?:ici,? )?(?:on|nous) (?:utilise|utilisons|ecrit|ecrivons|prend|prenons|suit|suivons|
          met|mettons) (?!ca\b|cela\b|le meme\b)\S.*\b(?:pour|au lieu|plutot|ici|toujours|
          seulement|et pas)\b
        (?:ici,? )?(?:on|nous) (?:n'utilise|n'utilisons|n'ecrit|ne met|ne fait|ne commite|
          ne mocke) (?:pas|jamais|plus)\b \S
        (?:n'ELIDED|ne (?:ACTED|SOFT)) (?:pas|jamais|plus)\b \S
        ne (?:pas|jamais|plus) (?:ACTED|SOFT)\b \S
        tu n'aurais pas du \w+ \S|evite[zr]? (?:de |d')\w+ \S
    """,
    alternatives=r"""
        ^ORDERS .*\b(?:plutot|au lieu|a la place|et pas|et non)\b
        ^ORDERS plutot \S
        ^(?:au lieu (?:de |d')|plutot que (?:de )?)[^,]+, ORDERS\b
        ^(?:il faut|tu dois|on doit) (?:utiliser|mettre|ecrire|faire) .*\b(?:plutot|au lieu|
          et pas|et non)\b
    """,
    orders=r"""
        ^ORDERS (?!le$|la$|ca\b|cela\b|les$)\S.*\S
    """,
    requests=r"""
        (?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|tu peux|
          tu pourrais) (?:s'il te plait )?
    """,
    questions=r"""
        ^(?:pourquoi|qu'est-ce|est-ce|que (?:fait|veut|faut)|comment|quand est|ou (?:est|sont)|
          qui|quel|quelle|quels|quelles|devrait-on|doit-on|peut-on|faut-il|y a-t-il|combien)\b
    """,
    one_off=r"""
        \bpas encore\b|(?<!partir de )\bmaintenant\b|\bpour l'instant\b|\bpour le moment\b|
          \baujourd'hui\b|\bdemain\b|\bcette fois\b|\btout de suite\b
        \bavant que\b|\bjusqu'a ce que\b
        \b(?:ce|cette|cet) (?:pr|commit|branche|etape|tache|changement|cas|test|erreur|option|
          fois)\b
        \blignes? \d|\betape \d|#\d|\boption \w\b|\bci-(?:dessus|dessous)\b
    """,
    not_rules=r"""
        \bpeut-etre\b|\bpas sur\b|\bje (?:ne )?(?:sais|crois|pense|comprends|vois) pas\b|
          \bje pense\b|\bpas (?:de probleme|grave|de souci)\b|\bne t'inquiete\b|\bn'oublie\b
        ^(?:si|quand|lorsque|parce que|comme|des que|puisque) (?!tu\b|vous\b)
        \b(?:si|quand) (?:le|la|un|une|l')\s?(?:utilisateur|client|bouton|page|serveur|valeur|
          liste)
        \bprefere (?:l'option|(?:la|le|ce|cette) (?:premiere?|seconde?|deuxieme|version|style|
          option))\b
    """,
    vague=r"""
        \b(?:ca|cela|celui-ci|celle-ci|le meme|la meme|l'autre)\b|\b(?:le|la|les)(?=[.,!]|$)
    """,
)
