"""A Dask cluster: the user's own, by its address, or one started here."""

from __future__ import annotations

import gc
import queue
import signal
import time
from collections.abc import Callable
from typing import Any, final

from dwell._need import need
from dwell.errors import DwellError, InputError
from dwell.sweep.cases import Chunk, Result, run_chunk, versions
from dwell.sweep.executors import Done, Lost, RunChunk

CONNECTING = 10.0  # seconds for one try to reach a scheduler
PAUSE = 1.0  # seconds between two tries


class ClusterLostError(DwellError):
    """The scheduler disappeared for longer than `patience`; committed rows are kept."""


@final
class DaskExecutor:
    """Chunks as tasks of a scheduler.

    A scheduler that disappears is waited for, `patience` seconds long; its chunks are lost without
    being suspect, and are submitted again.
    """

    def __init__(
        self,
        address: str | None,
        *,
        workers: int | None = None,
        run: RunChunk = run_chunk,
        patience: float = 60.0,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        what = "a cluster runs under Dask and needs"
        need("distributed", what, "pyarrow dask distributed bokeh", code="sweep.dask")
        self._address, self._run, self._patience, self._say = address, run, patience, say
        self._cluster = _local_cluster(workers) if address is None else None
        self._client: Any = None
        self._came: queue.SimpleQueue[tuple[Any, int]] = queue.SimpleQueue()
        self._given: dict[Any, Chunk] = {}
        self._life = 0  # number of the connection; results of earlier ones are ignored
        self._sent = 0
        self._threads, self._counted = 1, -PAUSE  # of workers, and when they were counted
        fault = self._connected(min(CONNECTING, patience))
        if fault:
            self.close()
            raise InputError(
                f"no Dask scheduler answers at {address} ({fault}); start one with: "
                "dask scheduler, and workers with: dask worker ADDRESS",
                code="sweep.cluster",
            )
        if self._cluster is not None:
            _quietly(lambda: self._client.run(_ignore_interrupts))

    @property
    def workers(self) -> int:
        """Number of threads of all workers, at most a second old."""
        if time.monotonic() - self._counted > PAUSE:
            self._threads = self._count()
            self._counted = time.monotonic()
        return max(1, self._threads)

    def _count(self) -> int:
        try:
            found = sum(int(threads) for threads in self._client.nthreads().values())
        except Exception:  # between two connections
            return 0
        if not found and self._threads:
            self._say(f"the cluster has no workers now; waiting for some: dask worker {self._name}")
        return found

    @property
    def _name(self) -> str:
        return str(self._address or self._client.scheduler.address)

    @property
    def about(self) -> str:
        """Address of the dashboard."""
        try:
            return str(self._client.dashboard_link or "")
        except Exception:  # there is no dashboard
            return ""

    def versions(self) -> dict[str, dict[str, str]]:
        """Return the versions of present workers by address."""
        answers = dict(self._client.run(versions, on_error="return"))
        for fault in answers.values():
            if isinstance(fault, Exception) and not isinstance(fault, OSError):
                raise _no_dwell_there(fault)
        gone = (OSError,)  # workers that left meanwhile
        return {there: found for there, found in answers.items() if not isinstance(found, gone)}

    def submit(self, chunk: Chunk) -> None:
        """Submit one task; Dask itself repeats it three times when its worker dies."""
        if not self._alive():
            self._reconnect()
        self._sent += 1
        key = f"dwell-sweep-{chunk.first}-{len(chunk)}-{self._life}-{self._sent}"
        try:
            future = self._client.submit(self._run, chunk, key=key, pure=False)
        except Exception as fault:  # the connection broke just now
            self._given[key] = chunk
            self._came.put((key, -1))
            self._say(f"lost the scheduler ({_words(fault)})")
            return
        self._given[future] = chunk
        life = self._life
        future.add_done_callback(lambda done: self._came.put((done, life)))

    def collect(self, timeout: float) -> list[Done | Lost]:
        """Return finished chunks; wait for the first one, at most `timeout` seconds."""
        found: list[Done | Lost] = []
        try:
            future, life = self._came.get(timeout=timeout)
            found += self._received(future, life)
            while not self._came.empty():
                found += self._received(*self._came.get_nowait())
        except queue.Empty:
            pass
        if not self._alive():
            found += self._give_up_all("the scheduler went away")
            self._reconnect()
        return found

    def _received(self, future: Any, life: int) -> list[Done | Lost]:
        chunk = self._given.pop(future, None)
        if chunk is None:  # of an earlier connection
            return []
        if life < 0:
            return [Lost(chunk, "the connection broke", suspect=False)]
        if future.status == "finished":
            try:
                return [Done(chunk, _checked(future.result(timeout=CONNECTING)))]
            except Exception as fault:  # its worker died with the result
                return [Lost(chunk, _words(fault), suspect=False)]
            finally:
                future.release()
        why = _exception_of(future)
        if isinstance(why, ImportError):  # imports that a case lacks are in its row
            raise _no_dwell_there(why)
        suspect = why is not None and type(why).__name__ not in _OF_THE_NETWORK
        certain = type(why).__name__ != "KilledWorker"  # which ends all chunks of its queue
        return [Lost(chunk, _words(why) if why else "cancelled", suspect, certain)]

    def _give_up_all(self, reason: str) -> list[Done | Lost]:
        lost: list[Done | Lost] = [Lost(chunk, reason, False) for chunk in self._given.values()]
        self._given.clear()
        return lost

    def _alive(self) -> bool:
        return self._client is not None and self._client.status == "running"

    def _connected(self, patience: float) -> str:
        """Try to connect; return the reason of a failure, or an empty text."""
        from distributed import Client

        connect: Any = Client  # which has no types
        target = self._address if self._cluster is None else self._cluster
        try:
            self._client = connect(target, timeout=patience, set_as_default=False)
            self._life += 1
            return ""
        except (OSError, TimeoutError, ValueError) as fault:
            words = _words(fault)
        # A client that was only half made closes itself when it is collected. That must not happen
        # while the next one is made: both want the same lock.
        gc.collect()
        return words

    def _reconnect(self) -> None:
        """Wait for the scheduler to answer again."""
        self._say("the scheduler went away; waiting for it")
        _quietly(self._client.close, 1.0)
        limit = time.monotonic() + self._patience
        while True:
            fault = self._connected(CONNECTING)
            if not fault:
                return
            if time.monotonic() > limit:
                raise ClusterLostError(
                    f"the scheduler at {self._address} went away and did not come back within "
                    f"{self._patience:g} s ({fault}); the same command goes on from what was done"
                )
            time.sleep(PAUSE)

    def close(self) -> None:
        """Cancel what is under way, and disconnect."""
        if self._client is not None:
            if self._alive() and self._given:
                _quietly(self._client.cancel, list(self._given), force=True)
            _quietly(self._client.close, 1.0)
        if self._cluster is not None:
            _quietly(self._cluster.close, 5.0)


_OF_THE_NETWORK = frozenset({"CommClosedError", "FutureCancelledError", "CancelledError"})


def _no_dwell_there(fault: BaseException) -> InputError:
    return InputError(
        f"a worker of the cluster cannot run dwell ({_words(fault)}); install the same version of "
        "it there",
        code="sweep.cluster",
    )


def _checked(result: object) -> Result:
    if not isinstance(result, Result):
        raise TypeError(f"the worker answered with a {type(result).__name__}")
    return result


def _exception_of(future: Any) -> BaseException | None:
    try:
        found: BaseException | None = future.exception(timeout=1.0)
        return found
    except Exception as fault:  # cancelled
        return fault


def _local_cluster(workers: int | None) -> Any:
    from distributed import LocalCluster

    from dwell.workers.threads import cores

    start: Any = LocalCluster  # which has no types
    return start(
        n_workers=workers or cores(), threads_per_worker=1, dashboard_address="127.0.0.1:0"
    )


def _ignore_interrupts() -> None:
    """Let workers of a local cluster ignore Ctrl-C, which ends the sweep."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _quietly(function: Callable[..., Any], *args: Any, **options: Any) -> None:
    """Call a function while closing, when errors no longer matter."""
    try:
        function(*args, **options)
    except Exception:
        return


def _words(fault: BaseException | None) -> str:
    text = " ".join(str(fault).split())[:300]
    return text or type(fault).__name__
