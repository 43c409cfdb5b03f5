"""Text: what is said, how it is counted and fitted, and how foreign words are made harmless."""
