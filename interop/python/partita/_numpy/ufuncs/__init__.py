"""Functions of elements: their class, their names, and those that are made of others."""
