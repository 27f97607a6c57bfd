"""Other systems, each asked for the same work as dwell; one file for each.

Every file imports its system inside its functions: a system that is not there gives a row that
says so, and stops nothing else.
"""
