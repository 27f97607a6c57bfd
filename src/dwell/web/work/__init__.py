"""What the server's worker processes do."""
