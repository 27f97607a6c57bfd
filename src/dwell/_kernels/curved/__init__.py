"""Kernels for cells whose workspace is bounded by an ellipse."""
