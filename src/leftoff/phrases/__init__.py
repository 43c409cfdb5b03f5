"""Recognize what people say to an agent, in every supported language.

Each file in `languages/` holds all phrases of one language. To add a language, add a file.
"""
