"""Compiled functions of arrays and floats: no classes with behaviour, no files, no messages.

Short mathematical names are allowed here, each with a legend. Every kernel also runs as plain
Python (``DWELL_JIT=0``) and returns the same bits.
"""
