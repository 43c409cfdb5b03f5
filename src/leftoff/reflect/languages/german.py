"""Corrections in German. Accents are gone: `fur` is für, `heiss` is heiß."""

from leftoff.reflect.language import Language

GERMAN = Language(
    name="de",
    known_by="""
        der die das den dem ein eine einen nicht und ist wir ich du sie bitte nein immer nie
        niemals kein keine keinen mit fur statt stattdessen verwende verwenden nutze nutzen nimm
        benutze im in auf zu wird werden soll sollte mir lieber hor auf falsch unsere unser mehr
        sondern diesem projekt
    """,
    empty="""
        der die das den dem des ein eine einen ich du wir sie es man nicht nie niemals immer
        kein keine keinen bitte so mach mache machen tu tue und oder aber zu auf mit in im an am
        fur statt stattdessen nein doch auch noch mehr wieder hier da jetzt ab sofort hor auf
        ist war verwende nutze benutze nimm verwenden nutzen benutzen nehmen lieber
    """,
    parts={
        # What is done to code; `SOFT` ones may also be about how the product looks.
        "CODE_ORDERS": r"""
            (?:verwende|nutze?|benutze?|nimm|schreibe?|fuhre?|fuge|teste?|installiere|importiere|
              formatiere|committe|pushe?|mocke?|kommentiere|erfinde|rate)(?:n sie)?
        """,
        "ORDERS": r"""
            (?:CODE_ORDERS|(?:mach|mache|lege?|leg|setze?|packe?|rufe?|lass|benenne|halte?|folge|
              starte|andere|losche|nenne)(?:n sie)?)
        """,
        "INFINITIVES": r"""
            (?:verwenden|nutzen|benutzen|nehmen|schreiben|ausfuhren|testen|installieren|
              importieren|formatieren|committen|pushen|mocken|hinzufugen|kommentieren|erfinden|
              raten)
        """,
        "SOFT_INFINITIVES": r"""
            (?:machen|legen|setzen|aufrufen|benennen|andern|loschen|anfassen|einbauen|abkurzen|
              nennen|anlegen|einfugen|umbenennen)
        """,
        "PLACE": r"(?:projekt|repo|repository|codebasis|codebase|team|firma)",
    },
    openers=r"""
        nein(?=[,.!:; -]|$)|ne(?=[,.!])|nee(?=[,.!])|falsch(?=[,.!:]|$)|stopp?(?=[,.!]|$)|
          (?:das|es) (?:ist|war) (?:so |leider |immer noch |komplett )?(?:falsch|nicht richtig|
          nicht korrekt|verkehrt|nicht das,? was ich (?:wollte|will|meinte))|
          das stimmt (?:so )?nicht|so nicht(?=[,.!]|$)|nicht so(?=[,.!]|$)|lass das(?=[,.!]|$)
    """,
    fillers=r"""
        bitte|ok(?:ay)?|also|und|aber|ach|hm+|ja|gut|danke|ubrigens|wie gesagt|nochmal|
          noch etwas|doch|wichtig|ich meine|hey
    """,
    high=r"""
        (?:ORDERS )(?:bitte )?(?:\S+ ){0,5}?(?:immer|niemals|nie(?! wieder so\b))\b
        (?:du (?:sollst|musst|darfst) |wir )?(?:immer|niemals|nie) .*\b(?:INFINITIVES|
          SOFT_INFINITIVES)\b
        (?:du (?:sollst|musst|darfst)) (?:\S+ ){0,6}?(?:immer|niemals|nie|nicht|
          kein\w*) .*(?:INFINITIVES|SOFT_INFINITIVES)\b
        CODE_ORDERS (?:bitte )?(?:\S+ ){0,3}?(?:nicht|nie|niemals|keine?[nrms]?)\b(?! mehr so\b)
        (?:keine?[nrms]?|nicht) (?:\S+ ){1,6}?(?:\w*zu)?INFINITIVES\b
        hor(?:e|t|en sie)? (?:bitte |endlich )?auf,? .+(?:\bzu\b|\w*zu\w+en\b)|hor auf mit\b \S
        (?:ab jetzt|ab sofort|von jetzt an|in zukunft|zukunftig|kunftig)\b,? (?!wird\b|
          werden wir\b|soll es\b|kommt\b)\S
    """,
    medium=r"""
        ich (?:bevorzuge|mag lieber|hatte lieber|mochte lieber|will lieber|nehme lieber)\b
        mir (?:ist|sind|ware|waren) .+ lieber\b|(?:mir )?lieber (?:ist|ware) mir\b
        ich (?:mochte|will|mag) (?:hier |da )?(?:keine?[nrms]?|nicht)\b(?! wissen)
        (?:in|fur) (?:diesem|unserem|dieses|unser) PLACE\b
        unsere? (?:\S+ )?(?:konvention(?:en)?|regeln?|stil|standards?|richtlinien?|vorgaben?|
          namenskonvention|praxis) (?:ist|sind|lautet|lauten|sagt)\b
        (?:die|der) (?:konvention|regel|standard) (?:ist|lautet)\b
        wir (?:verwenden|nutzen|benutzen|nehmen|schreiben|committen) (?!es\b|das\b|
          diese)\S.*(?:\bfur\b|\bstatt\b|\bhier\b|\bimmer\b|\bnur\b|\bnicht\b|\bkein)
        du (?:hattest|solltest) (?:nicht |kein\w* )?.+\b(?:sollen|durfen|mussen)\b
        ORDERS (?:bitte )?(?:\S+ ){0,3}?(?:nicht|keine?[nrms]?) \S
        (?:keine?[nrms]?|nicht) (?:\S+ ){1,6}?(?:\w*zu)?SOFT_INFINITIVES\b
        keine?[nrms]? .+\bmehr\b|(?:nur noch|ausschliesslich) \S.* (?:verwenden|nutzen|benutzen)
    """,
    alternatives=r"""
        ^ORDERS .*\b(?:stattdessen|statt|anstatt|anstelle|lieber|sondern|und nicht|nicht)\b
        ^(?:stattdessen|statt|anstatt|anstelle) .*(?:ORDERS|INFINITIVES)\b
        ^nicht .+,? sondern \S
        .*\b(?:statt|anstatt|stattdessen)\b.* INFINITIVES$
    """,
    orders=r"""
        ^ORDERS (?:bitte )?(?!es\b|das\b|sie\b|weiter\b)\S.*\S
    """,
    requests=r"""
        (?:kannst|konntest|konnen sie|wurdest) (?:du )?(?:bitte )?
    """,
    questions=r"""
        ^(?:warum|wieso|weshalb|was|wie|wann|wo|wer|welche[rsnm]?|soll(?:en|te|ten)? (?:ich|wir|
          das)|kann (?:ich|man|das)|konnen wir|ist|sind|hast|habt|haben wir|wird|war|darf|muss|
          mussen wir)\b
    """,
    one_off=r"""
        \bnoch nicht\b|\b(?<!ab )(?<!von )jetzt\b(?! an)|\berst ?mal\b|\bvorerst\b|\bheute\b|
          \bmorgen\b|\bdiesmal\b|\bim moment\b|\bgerade\b|\bmomentan\b
        \bbis (?:ich|wir|du)\b|\bbevor (?:ich|wir|du)\b
        \b(?:diese[rsnm]?|den|der|das) (?:pr|commit|branch|schritt|aufgabe|anderung|test|fehler|
          fall|variante|option)\b
        \bzeilen? \d|\bschritt \d|#\d|\boption \w\b|\b(?:oben|unten)\b
    """,
    not_rules=r"""
        \bvielleicht\b|\bnicht sicher\b|\bich glaube\b|\bkeine (?:ahnung|sorge|eile)\b|
          \bkein problem\b|\bmacht nichts\b|\beventuell\b
        ^(?:wenn|falls|weil|da|sobald|wahrend) (?!du\b)
        \b(?:wenn|falls) (?:der |die |das |ein |eine )?(?:nutzer|benutzer|user|button|seite|
          server|kunde|wert|liste)
        \b(?:funktioniert|geht|klappt|kommt|erscheint|fehlt|schlagt) (?:immer |noch |
          leider )*(?:nicht|nie|fehl)\b
    """,
    vague=r"""
        \b(?:es|das|dies|diese[rsnm]?)(?=[.,!]|$)|\b(?:es|dieselbe[nrs]?|das gleiche)\b
    """,
)
