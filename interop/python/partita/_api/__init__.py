"""NumPy's functions, creation, files, protocols and collective operators, on top of the array."""
