"""Measurements of accuracy, speed, start-up, memory and growth, beside shapely and SciPy."""
