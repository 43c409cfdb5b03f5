"""What a project remembers beyond single checkpoints: memory, features and corrections."""
