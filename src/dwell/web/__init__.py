"""A server for the page: runs as jobs in worker processes, streamed as they go."""
