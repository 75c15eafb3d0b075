"""The tests, a package by name: other packages install a `tests` of their own beside herded."""
