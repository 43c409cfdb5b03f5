"""The write-ahead log of a session: notes of what the user said, written at once.

It is the file SESSION-STATE.md, which people also read and edit. A save takes its content over.
"""
