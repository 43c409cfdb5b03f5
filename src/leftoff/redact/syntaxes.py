"""How names are written before their values: separators, quotes, and calls around them."""

from leftoff.lazy_patterns import lazy

WORD = {
    b"pass": rb"(?:passw(?:or)?[dt]?|passphrase|passcode|(?P<short>pass))",
    b"cred": rb"cred(?:ential)?s?",
}
# How a name may continue after its secret word, and how it is closed: `PASSWORD_2`, `token"]`.
SUFFIX = (
    rb"(?:[ ](?:access|key)(?![\w-])|[_-]?(?:access|key)|[_-]?(?:base64|base|b64"
    rb"|value|val|production|prod|dev|staging|stage"
    rb"|test|live|default|old|new|str|string|text|plain|raw|[0-9]{1,3})){0,4}+"
    rb"(?:\\{0,8}+[\"'`]\]?+)?+(?:[ ]\[(?:none|\*+\w*)\])?+"
)
# After a bracket there is only a value to fall back to.
_NO_DEFAULT = rb"\)(?![ ]{0,2}(?:[,|?]|or[ ]))"
# A short word and a blank after it is not the value of a key or a token: `token count: 12`.
_NEXT_WORD = rb"[ ](?!(?:is|was|ist|war|key|access|value|or|new)\b)[a-z]{1,7}[:.]?(?=[ \t\r\n])"
# If one of these letters follows the name of a secret, no suffix and no separator follows it.
NAME_GUARD = rb"(?![cefghijmquwxyz]|s(?!t)|" + _NO_DEFAULT + b"|" + _NEXT_WORD + b")"
PASS_GUARD = rb"(?![fghijmquxyz]|e[a-z]|s(?!t)|" + _NO_DEFAULT + b")"
# `os.getenv("DB_PASS", "…")`
_FALLBACK = (
    rb"(?:(?:os\.)?(?:env\.(?:fetch|get|str)|environ\.get|getenv|env)\([ ]{0,2}"
    rb"\\{0,8}[\"'][\w.:-]{1,60}"
    rb"\\{0,8}[\"'],[ ]{0,2}(?=[bfru]{0,2}\\{0,8}[\"']))?+"
)
# What a program wraps around a literal: `String::from("…")`, `[]byte("…")`, `SecretStr("…")`.
_WRAPPED = _FALLBACK + (
    # Most values are not a call, and that is cheap to check.
    rb"(?:(?=[a-z&\[][\w.:\] ]{2,40}\()(?:new[ ]|&|pulumi\.|cdk\.)?"
    rb"(?:(?:std::)?string(?:::from)?|some|str|bytes(?:\.fromhex)?"
    rb"|\[\]byte|buffer\.from|secret(?:str|string|box|bytes)?(?:::(?:new|from))?|securestring"
    rb"|secretvalue\.\w{1,30}|(?:zeroizing|arc|box)::(?:new|from)|sensitive|optional\.of"
    rb"|quote(?:_plus)?|encodeuricomponent|btoa|atob|(?:base64\.)?b64(?:en|de)code"
    rb"|(?:binascii\.)?unhexlify|hex\.decodestring|convert\.frombase64string"
    rb"|encoding\.\w{1,10}\.getbytes)\([ ]{0,2}){0,2}+"
)
_QUOTE = rb"(?=[bfrun@$]{0,3}\\{0,8}[\"'`])"
SEPARATOR = (
    rb"(?:(?:[\s,]|\\{1,8}[nr]){0,60}+\\{0,8}[\"']?(?:android:|parameter)?value"
    rb"\\{0,8}[\"']?[ \t]{0,8}(?P<pair>[:=])"
    rb"|[ \t]{0,40}+(?:(?P<equals>:=|=>|->|<-(?=[ ]{0,2}[\"'])|\?=|={1,3}|!={1,2}"
    rb"|\[\d{0,5}\][ ]{0,2}=(?=[ ]{0,2}\"))"
    rb"|:[ \t]{0,8}[a-z_&*][\w.:\[\] |?&<>*']{0,40}?=(?=[ \t]{0,8}"
    + _WRAPPED
    + rb"[bfru]?\\{0,8}[\"'])"
    rb"|\)?[ ]{0,2}(?P<default>,|\|\||\?\?|\?:|or(?=[ ]))[ \t]{0,8}"
    + _QUOTE
    + rb"|(?P<fallback>:-)"
    rb"|\{[ ]?(?:get|set|init)\b[^{}\r\n]{0,40}\}[ ]{0,4}="
    rb"|\{[ ]{0,4}(?=\\{0,8}[\"'])"
    rb"|(?P<colon>:)|(?P<call>\()[ \t]{0,8}" + _QUOTE + rb")"
    rb"|[ ]{0,4}\{\s{0,40}(?:type\s{0,8}=\s{0,8}string\s{1,40})?default[ ]{0,8}(?P<variable>=)"
    rb"|</\w{1,20}>\s{0,20}<\w{1,20}(?P<item>>)"
    rb"|(?P<is>[ ](?:is|was|ist|war)\b:?)"
    rb"|(?P<tag>>)"
    rb"|(?P<blank>(?=[ \t])))"
)
VALUE = (
    rb"(?P<gap>[ \t]{0,40}+)(?:" + _WRAPPED + rb"[bfrun@$]{0,3}(?P<mark>\\{0,8}[\"'`])"
    rb"|(?P<bare>[^\s\"'`\\,;&<>(){}\[\]|]{1,200}+)|(?P<object>[{(\[][^\s\"'`\\<]{20,500}))"
)
# Functions that store a value under a name, or look one up and fall back to the value.
STORING = lazy(
    rb"(?i)(?:env|environ|fetch|get|getOrDefault|property|(?<!in)put|(?<!re)set|add|append|define|header|param"
    rb"|field"
    rb"|entry|config|option|literal|of|with|prop|variable|var|default|(?<!get_)string)s?\("
    rb"\s{0,8}\\{0,8}[\"'`](?:[\w-]{1,40}[.:/]){0,6}\Z"
    # Gradle for Android
    rb"|(?:buildConfigField|resValue)[ (]"
    rb"\s{0,4}\\{0,8}[\"']\w{1,20}\\{0,8}[\"'],\s{0,4}\\{0,8}[\"']\Z"
)
SETTING = lazy(
    rb"(?i)\b(?:set|setx|add|put|config|env|arg|setenv|define|fastcgi_param|uwsgi_param)\s{1,4}"
    rb"(?:-{1,2}[\w-]{1,16}\s{1,4}){0,2}"
    rb"(?:\S{1,40}[/:.])?\Z"
)
# `setPassword("…")`, `.password("…")` and `.withAcmeToken("…")`, but not `checkPassword("…")`.
SETTER = lazy(
    rb"(?i)^(?:set|with|use|put|update|change|new)[_-]?\w*\Z"
    rb"|(?:^|basic|auth|user|admin|root|db|database|client"
    rb"|api|access|secret|private|ssh|key|store|http|smtp|proxy)[_-]?\Z"
)
# A method that takes a secret for another purpose than storing it.
ASKING = lazy(
    rb"(?i)^(?:is|has|get|check|verify|validate|valid|hash|compare|match|parse|decode|encode|find"
    rb"|fetch|read|load|generate|create|make|revoke|refresh|reset|forgot|assert|expect|require|test"
    rb"|mock|on|handle|request|delete|remove|encrypt|decrypt|ask|prompt|enter|confirm|input|type"
    rb"|fill|show|hide|by|to|from|of|no|not|invalid|missing|bad|wrong|expired|add|next)"
)
SQL = {
    "password": lazy(
        rb"(?i)\b(?:create|alter|grant|set|user|role|login|options|identified|encrypted|dblink)"
        rb"\s[^\n]*\Z"
    ),
    "secret": lazy(rb"(?i)\b(?:create|alter)\s(?:[a-z ]{0,40} )?(?:secret|credential)\b"),
    "key": lazy(rb"(?i)\bcreate\s(?:[a-z ]{0,40} )?(?:secret|credential|key)\b"),
}
