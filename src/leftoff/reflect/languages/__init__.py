"""One module for each language in which corrections are understood."""

from leftoff.reflect.language import Language
from leftoff.reflect.languages.chinese import CHINESE
from leftoff.reflect.languages.english import ENGLISH
from leftoff.reflect.languages.french import FRENCH
from leftoff.reflect.languages.german import GERMAN
from leftoff.reflect.languages.japanese import JAPANESE
from leftoff.reflect.languages.spanish import SPANISH

LANGUAGES: dict[str, Language] = {
    each.name: each for each in (ENGLISH, GERMAN, SPANISH, FRENCH, CHINESE, JAPANESE)
}
