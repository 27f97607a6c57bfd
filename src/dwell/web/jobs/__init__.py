"""The server's side of workers: who does what, who waits, and what is kept of a run."""
