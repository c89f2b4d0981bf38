"""Exchange: submissions that are data, never code."""
