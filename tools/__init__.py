"""What is run once for each release, from a checkout; nothing here is part of the package.

`english_model` trains the model of English that the package contains.
"""
