"""The service: a bounty held in public, for months. Use cases, and the only composer of the rooms below."""
