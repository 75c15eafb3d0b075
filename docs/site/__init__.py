"""The site: Sphinx settings, extensions, and pages made from docstrings and examples."""
