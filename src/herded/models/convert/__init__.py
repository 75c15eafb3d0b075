"""Models from other libraries' objects. Nothing here imports them: duck typing is enough."""
