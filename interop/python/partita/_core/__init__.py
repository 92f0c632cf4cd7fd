"""The array, its rules and its life: types, promotion, operators, loops, pickling, the end of the process."""
