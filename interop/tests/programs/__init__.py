"""Random NumPy programs, run with partita and with NumPy: what `test_programs.py` compares.

A program is a list of statements (`language`), each a line of Python that means the same in both packages. `generate`
makes one from a seed with the words of `vocabulary`, `layouts` divides its arrays, `check` runs it in both and compares
(`bounds` says how far apart results may be), `shrink` makes a failing one small and `script` prints it to be run.
"""
