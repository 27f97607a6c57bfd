"""Runs in the formats of other programs."""

from dwell.exports.gis import export_gis
from dwell.exports.html import export_html
from dwell.exports.mcap import export_mcap
from dwell.exports.widget import player

__all__ = ["export_gis", "export_html", "export_mcap", "player"]
