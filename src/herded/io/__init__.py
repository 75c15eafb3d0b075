"""Files: what people have already."""
