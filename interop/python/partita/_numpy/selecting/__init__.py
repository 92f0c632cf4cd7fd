"""Functions that select, search and count elements."""
