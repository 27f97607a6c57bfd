"""Inside a worker process: one thing at a time, runs and small questions."""
