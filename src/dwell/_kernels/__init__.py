"""Arrays and floats in, arrays and floats out: the compiled floor of the house.

No classes, no files, no messages. Short mathematical names are allowed here, each with a legend.
Every kernel also runs as plain Python (``DWELL_JIT=0``) and gives the same bits.
"""
