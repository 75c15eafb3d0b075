"""Binary pairs."""
