"""Ship: save, remember, check, commit, push, open a pull request; each step stands by itself."""
