"""Agents in real time: what each takes the others to do, its decisions, safety, and the record."""
