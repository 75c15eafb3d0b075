"""The same work through herded and through what one would use instead, in one run."""
