"""Sessions: what an agent's conversation says about the work, and what leftoff keeps of it."""
