"""HTTP routes, their response models and errors, and the checks that every request passes."""
