"""Small implementations in NumPy alone that `partita.conformance` is run against, right and with planted errors; and what Partita offers."""
