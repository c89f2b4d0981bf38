"""Finders find what is there, say so in words, and refuse what they cannot take."""
