"""Corrections in English."""

from leftoff.reflect.language import Language

ENGLISH = Language(
    name="en",
    known_by="""
        the a an is are to of and in it you we i that this don't use not should instead never
        always with for no stop please our my be on
    """,
    empty="""
        a an the i you we it its it's that this these those they them he she do don't does did
        doing done not no never always ever please just is are be was to of in on at for with
        and or but so again use using used make made put instead stop should must can could
        would will have has had want like need here there way thing things stuff one ones same
        other from now than rather prefer i'd my your our me us as by if all any some try go
        keep get
    """,
    parts={
        "NOT": r"(?:do not|don'?t|never)",
        # What an agent does to code, as against what the product does and how it looks: `don't
        # mock the database` is a rule for the one, `don't show the banner` a change to the other.
        "AGENT_VERBS": r"""
            (?:add|amend|apologi[sz]e|ask|assume|bump|bypass|cast|catch|check in|comment|commit|
              copy|create|deploy|disable|document|downgrade|duplicate|explain|fake|force|generate|
              guess|hard-?code|ignore|import|install|introduce|invent|make up|merge|mix|mock|
              mutate|nest|over-?(?:engineer|complicate|write|use)|output|paste|produce|provide|
              push|re-?(?:build|create|format|factor|init\w*|install|invent|run|write)|rebase|run|
              send|skip|squash|stub|summari[sz]e|suppress|swallow|upgrade|use|write)
        """,
        # These may be about either.
        "OTHER_VERBS": r"""
            (?:abbreviate|alter|build|call|change|declare|delete|edit|exclude|format|give|
              go back to|implement|include|inline|keep|leave|log|make|modify|move|name|omit|open|
              prefix|print|put|read|remove|rename|repeat|replace|return|sleep|start|store|touch|
              truncate|trust|try|update|wrap)
        """,
        "STANDING_VERBS": r"""
            (?:answer|ask|be|build|check|confirm|declare|do|double-?check|follow|format|give me|
              handle|include|keep|lint|log|look|make sure|name|plan|prefer|read|reply|respond|
              return|review|search|show me|start|tell me|test|think|type|update|validate|verify|
              work|wrap)
        """,
        "GENERAL_VERBS": r"""
            (?:use|prefer|follow|stick (?:to|with)|go with|write|name|run|call|import|commit|
              install|mock|format|rely on|do|test|log|throw|raise|return|document|put)
        """,
        "ORDERS": r"""
            (?:add|ask|be|call|commit|create|define|do|extract|follow|format|go|group|handle|
              have|import|inline|install|keep|leave|log|make|mock|move|name|pass|pick|place|put|
              raise|read|reuse|rename|replace|return|run|set|split|start|store|switch|take|test|
              throw|use|wrap|write)
        """,
        "YOU": r"""
            (?:(?:you|we) (?:really )?(?:should|must|need to|have to|ought to|are to|can) |we |
              make sure (?:(?:that )?you |to )?|be sure to |remember to |remember,? |try to |
              i (?:want|need|would like) you to |i'd like you to |it is important to |rule: )?
        """,
        "NO_VERB": r"""
            (?:\w+(?:ed|ing)|\w*[^su_\W]s|been|seen|had|mind|got|knew|saw|happen|occur|get|see|
              fail|end|heard|want|need|the|a|an|in|on|at|there|more|again|say|said|thought|know|
              think|be sure|be able|should|would|will)\b
        """,
        "PLACE": r"""
            (?:project|repo|repository|code ?base|team|company|org|organi[sz]ation|monorepo)
        """,
        "CUSTOM": r"""
            (?:conventions?|style ?guide|coding style|code style|standards?|polic(?:y|ies)|
              practices?|guidelines?|rules?|preferences?|patterns?|naming scheme)
        """,
        # What a project has for good; most else with a `the` is only in the work at hand.
        "LASTING_THINGS": r"""
            (?:any type|ci|config|database|db|environment|file ?system|generated|lock ?files?|
              main|master|migrations|network|prod|production|public|schema|test suite|tests?|
              vendored)
        """,
        "OBJECT": r"""
            (?! (?:that|this|it|them|these|those|my|all|a|an|new|another|
              the (?!LASTING_THINGS\b)\S+)\b) \S
        """,
        "NOT_RIGHT": r"""
            not (?:right|correct|true|what i (?:asked|want|wanted|meant|said)(?: for)?|
              how we do (?:it|this|that|things))
        """,
        "CODE_THINGS": r"""
            (?:commit messages?|commits|tests?|functions?|comments?|files?|imports?|migrations?|
              branch(?:es)?|prs|pull requests|variables?|classes|modules?|types|errors|docs|
              secrets)
        """,
    },
    openers=r"""
        no(?:,|\.|!|:|;| -+| —|$)(?! (?:problem|worries|need|rush|idea)\b)
        no(?= (?:use|don'?t|do not|never|always|please|stop|we|you|i|just|that'?s|not|instead|make|
          put|keep|go with)\b)
        (?:no no|nope|nah|wrong|incorrect|not (?:quite )?(?:right|correct)|bad)(?=[,.!:;]|$)
        (?:that|this|it)(?:'s|s| is) (?:(?:still|just|completely|totally|plain|so) )?(?:wrong|
          incorrect|a bad idea|backwards|NOT_RIGHT)
        NOT_RIGHT(?=[,.!:;]|$)
        you(?:'re| are) wrong|you (?:misunderstood|got (?:it|that|this) wrong)
        i (?:didn'?t|did not|never) (?:ask|say|want|mean)(?: for| you to do)? (?:that|this|it)
        (?:stop|undo|revert|don'?t do)(?: (?:that|this|it))?(?=[,.!:;]|$)
    """,
    fillers=r"""
        please|pls|plz|ok(?:ay)?|hey|well|so|also|and|but|btw|by the way|actually|sorry|wait|
          hm+|oh|yes|yeah|yep|sure|thanks|thank you|great|good|nice|claude|again|as i said|
          like i said|note(?: that)?|just|then|in general|generally|one more thing|fyi|important|
          nit|look|listen|i think|i mean|(?:and )?remember(?: that)?[,:]|reminder:|rule:|
          (?:in terms of|regarding|as for|concerning) [\w ]{1,30},
    """,
    high=r"""
        YOUalways (?:AGENT_VERBS|STANDING_VERBS)\b \S
        YOUnever (?:ever )?(?:AGENT_VERBS|STANDING_VERBS|OTHER_VERBS)\b \S
        NOT (?:ever )?AGENT_VERBS\bOBJECT
        you (?:must|should)(?:n'?t| not) (?:ever )?AGENT_VERBS\bOBJECT
        (?:please )?stop (?!being\b|working\b|running\b|looking\b|trying\b|
          talking\b)\w+ing\b(?! (?:the|this|that|it|on)\b) \S
        (?:from now on|from here on(?: out)?|going forward|for future reference)\b[, ]+(?!it\b|
          this\b|that\b|the\b|there\b|i\b|we(?:'ll| will| want| might| can| could)\b)
        (?!it\b|this\b|that\b|the\b|there\b|i\b).+\bfrom now on\b
        i(?:'ve| have)? (?:already )?(?:told|asked|said to) you (?:many times |before |
          again |explicitly )?(?:not to|never to|i don'?t want|to (?:always|never|use|stop|not))\b
    """,
    medium=r"""
        i(?:'d| would)? (?:(?:much|really|strongly|also|personally|generally|
          always) )?(?:prefer|rather)\b(?! the\b)
        i (?:do not|don'?t|never) (?:really |ever )?(?:want|like) (?!to (?:know|see|lose|wait|
          break|spend|go|make|do)\b|the\b|this\b|that\b|it\b|any\b|these\b|those\b)
        (?:in|for|across|throughout) (?:this|our) (?:\w+ )?PLACE\b,? (?:we|you|please|use|
          always|never|do not|don'?t|all|every|only)\b
        (?:our|my|the|this PLACE's) (?:[\w-]+ ){0,2}CUSTOM (?:here |for [\w ]+ )?(?:is|are|says|
          say|requires?)\b(?! (?:wrong|broken|not|failing|incorrect|missing|empty|that we)\b)
        we (?:only |usually |normally |generally |typically |prefer to |try to |all )?(?:use|
          write|keep|put|name|follow|prefer|avoid|commit|deploy|run|test|import|store|rely on|
          stick to) (?!it\b|this\b|that\b|them\b|the same\b)\S.*?(?:\bfor\b|\binstead\b|, not\b|
          \bnot\b|\brather than\b|\bhere\b|\beverywhere\b|\bonly\b|\bin (?:this|our|all)\b|
          \bby convention\b)
        we (?:do not|don'?t|never|no longer|should not|shouldn'?t|must not|mustn'?t) (?:use|
          write|add|commit|mock|allow|put|do|hard-?code|import|test|rely on)\b(?! (?:it|this|that|
          the)\b)
        YOU(?:always|never(?: ever)?) (?!NO_VERB)[a-z_]+ \S
        (?:do not|don'?t|you (?:should|must|can)(?:n'?t| not)) (?:ever )?(?:AGENT_VERBS|
          OTHER_VERBS)\b \S
        you should(?:n'?t| not)? have (?!to\b|a\b|the\b|been\b)\w+ \S
        stop (?:using|adding|making|writing|creating|putting|calling|changing|removing|asking)\b \S
        (?:avoid|refrain from|quit) \w+ing\b(?! (?:the|this|that|it)\b) \S
        (?:all |every |each |the |our )?CODE_THINGS (?:should|must) (?:always|never|not)\b
        YOU(?:only use|use only) (?!the\b|this\b|that\b|it\b)\S
        i (?:said|meant) (?:to )?(?:use|not to|never|always|don'?t)\b
        i remind you\b.{8}
        (?:be|keep (?:your|the|all) \w+) (?:more |less |very )?(?:concise|brief|terse|short|
          small|verbose)\b
    """,
    alternatives=r"""
        ^YOU(?:i want you to |let's |better (?:to )?|rather )?GENERAL_VERBS\b .*(?:\binstead\b|
          \brather than\b|, (?:and )?not\b|\band not\b|\bin place of\b|\bnot \S+$)
        ^instead of [^,]+, (?:please )?(?:use|write|put|run|call|follow|import|do)\b
        ^(?:it|this|that|they) (?:should|must) (?:be|use|go|live) .*\b(?:instead of \S|not)\b
    """,
    orders=r"""
        ^YOUORDERS (?!it\b|that\b|this\b|them\b|back\b|ahead\b|on\b|the (?:old|other|same|
          previous|first|second|last)\b)\S.*\S
        ^(?:you|we) (?:should|must|need to|have to) (?!do (?:it|that|this)\b)\w+ \S.*\S
    """,
    requests=r"""
        (?:can|could|would|will) you (?:please |maybe |just |also )?
    """,
    questions=r"""
        ^(?:why|what|how|when(?=.*\?)|where|who|which|whose|should|shall|can|could|would|will|
          may|might|does|did|is|are|am|was|were|has|had|isn'?t|aren'?t|didn'?t|doesn'?t|won'?t|
          wouldn'?t|shouldn'?t|haven'?t|hasn'?t|(?:don'?t|do|have) (?:i|we|you|they|the|these|
          those)|can'?t (?:i|we|you|it)|any (?:idea|reason))\b
    """,
    one_off=r"""
        \byet\b
        \b(?:for|right|just|only) now\b
        (?<!from )\bnow\b(?! on)
        \bthis time\b|\btoday\b|\btonight\b|\btomorrow\b|\bat the moment\b|\banymore\b
        \b(?:until|till) (?:i|we|you)\b|\bbefore (?:i|we)\b
        \bfor (?:this|the) (?:\w+ )?(?:pr|commit|task|step|moment|change|ticket|issue|session|
          run|time being|demo|poc|mvp)\b
        \bthis (?:pr|commit|task|step|case|session|change|branch|message|turn|plan|ticket|issue|
          phase|feature|test|bug|error)\b
        \b(?:first|second|third|last|next|previous|other|old|latter|former) (?:one|option|
          approach|test|step|line|error|issue|commit|version|change)s?\b
        \bfor (?:this|that|it)\b(?! PLACE)
        \b(?:do|take|revert|change|touch|edit|modify|delete|remove|build|run|start|create|add|
          write|make|fix) (?:anything|everything|nothing|any (?:changes|actions)|changes)\b
        \banything (?:else|more)\b
        \blines? \d|\bsteps? \d|\btasks? \d|\bphase \d|\boption \w\b|#\d
        \b(?:above|below|in the (?:screenshot|image|picture))\b
    """,
    not_rules=r"""
        \bnever ?mind\b|\bno need\b|\b(?:do not|don'?t) need\b
        \bmaybe\b|\bperhaps\b|\bnot sure\b|\bi wonder\b|\bi guess\b|\bprobably\b|\bwhat if\b
        ^(?:if|when|whenever|unless|while|once|because|since|as|after|where) (?!you\b|i ask|
          possible|in doubt|writing|adding|creating|making|running|editing|committing|working|
          testing)
        \b(?:if|when|unless|so that|because) (?:the |a |an |our )?(?:user|player|customer|
          visitor|button|page|api|server|request|response|value|list|modal|form|screen|game|
          app)s?\b
        \b(?:user|player|customer|visitor|client|viewer)s? (?:should|must|can|has|have|to)\b
        \b(?:do not|don'?t) (?:worry|forget|bother|hesitate|mind|care|panic|give up|be afraid)\b
        \b(?:prefer|rather)\b.*\b(?:option|variant|approach|solution|choice|alternative|version|
          idea|first|second|third|latter|former)\b
        \b(?:you|they|he|she) prefer\b|\bas you\b|\bup to you\b
        \bi (?:do not|don'?t) (?:know|think|see|understand|believe|remember|care|mind)\b
        \b(?:works?|returns?|shows?|gives?|fails?|happens?|appears?) instead\b
    """,
    vague=r"""
        \bit\b(?!')|\bthem\b|\b(?:that|this|the other|the same|the right|the new) (?:one|thing|
          way)\b|\bthe (?:other|same|new|old|existing)\b|\b(?:this|that|these|those)(?=[.,!]|$)|
          \b(?:this|these|those) \w+
    """,
)
