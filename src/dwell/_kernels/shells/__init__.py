"""Guaranteed and dual guaranteed cells in space."""
