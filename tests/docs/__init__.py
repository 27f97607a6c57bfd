"""The documentation: its examples run, and it names everything that it promises to name."""
