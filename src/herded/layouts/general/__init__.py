"""General."""
