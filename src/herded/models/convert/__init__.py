"""Models from objects of other libraries, which are used but not imported."""
