"""The steps, each in a file named by its number."""
