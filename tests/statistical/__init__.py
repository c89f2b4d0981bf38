"""Claims about chance: seeded, and judged with a binomial bound."""
