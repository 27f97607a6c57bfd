"""Slow, independent reference computations that judge the package."""
