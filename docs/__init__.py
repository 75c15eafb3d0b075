"""Pages of the documentation, and the programs that make and check them."""
