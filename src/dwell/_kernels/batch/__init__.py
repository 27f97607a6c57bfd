"""Many independent runs, one after another, without a step in Python between them."""
