"""Runs in the formats of other programs."""

from dwell.exports.gis import export_gis

__all__ = ["export_gis"]
