"""Phrases: what people say to an agent, recognised in every language that has a file.

Each file in `languages/` holds all phrases of one language. To add a language, add a file.
"""
