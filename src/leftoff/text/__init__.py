"""Text: tokens and budgets, times and plurals, and the fence around text from elsewhere."""
