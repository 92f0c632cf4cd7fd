"""The rest of NumPy's main namespace, made of the operations below; by theme. `partita` exports it all."""
