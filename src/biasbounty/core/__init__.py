"""The pure heart: decision lists, columns, checkers and the process. No I/O, no clock, no global random state."""
