"""A server for the page: runs as jobs in worker processes, streamed as they go.

- `serving`: from the start of a server to its end
- `api`: the application; `server`: what its routes work with
- `routes/`: requests and their answers
- `jobs/`: workers as the server sees them, jobs, films
- `work/`: inside a worker process
- `static/`: the page, as built by scripts/page
"""
