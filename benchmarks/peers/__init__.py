"""Other people's packages, each used in an environment of its own; pins are in the .txt files beside each."""
