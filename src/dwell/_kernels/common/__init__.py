"""Kernels for any dimension: arithmetic, random numbers, quadrature, the event loop."""
