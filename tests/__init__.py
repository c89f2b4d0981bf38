"""Tests; they mirror src, and each name is a claim."""
