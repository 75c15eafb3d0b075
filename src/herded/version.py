"""The one place that says which version this is."""

__version__ = "0.2.0.dev0"
