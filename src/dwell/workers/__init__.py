"""Work beside the main thread: one supervised pool of processes, and a map over threads.

- `pool`: a queue and the processes that serve it, inside an event loop
- `process`: one worker process, as its pool sees it
- `child`: the program of a worker process
- `threads`: functions that run in threads of this process
"""
