"""Requests: what they pass, what they ask for, and what they are answered."""
