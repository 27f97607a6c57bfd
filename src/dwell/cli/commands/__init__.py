"""The commands, thin: what they do is elsewhere."""
