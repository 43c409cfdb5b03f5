"""The write-ahead log of a session: what the user says that must not get lost, noted at once.

It is a file that people read and write too, SESSION-STATE.md. A save is filled from it.
"""
