"""A server for the page: runs as jobs in worker processes, streamed as they go.

- `http_server`: socket, browser, signals and temporary files of a server
- `app`: the ASGI application; `backend`: pools and jobs that its routes use
- `routes/`: requests and responses
- `jobs/`: runs, films and short tasks, and their states
- `work/`: what runs inside a worker process
- `static/`: the page, as built by scripts/page
"""
