"""A server for the page: runs as jobs in worker processes, streamed as they go.

    serving.py   from the start of a server to its end
    api.py       the application; server.py: what its routes work with
    routes/      requests and their answers
    jobs/        workers as the server sees them, jobs, films
    work/        inside a worker process
    static/      the page, as built by scripts/page
"""
