"""The shapes of issued secrets: one table for each field, and each row is its own test.

A row is a kind, a shape and a near miss. A shape is a text in which `<36 alnum>` means 36 such
characters, `<20+ word>` at least 20, `<8-12 hex>` from 8 to 12, `{a|b}` either of two texts, and
`(…)` the secret part, if the rest may stay. Alphabets are in `leftoff.redact.template`. The tests
fill both columns with made-up characters: the shape must be found, and the near miss must not.
"""

from leftoff.redact.issuers import clouds, code, data, models, money, office, talk, watching

Row = tuple[str, str, str]

ROWS: tuple[Row, ...] = (
    *models.ROWS,
    *code.ROWS,
    *clouds.ROWS,
    *talk.ROWS,
    *money.ROWS,
    *watching.ROWS,
    *office.ROWS,
    *data.ROWS,
)
