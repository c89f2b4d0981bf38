"""The paper's experiments (section 5), each as `python -m experiments.NAME`: figures, charts and a page of the docs.

They need the package with everything for development. `sources` finds the data, `output` writes what was found.
"""
