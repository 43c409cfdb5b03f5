"""Ship the work: save, remember, check, commit, push and open a pull request."""
