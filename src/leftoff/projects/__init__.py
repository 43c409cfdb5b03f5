"""Find the project of a folder and its store, and keep links from leading out of it."""
