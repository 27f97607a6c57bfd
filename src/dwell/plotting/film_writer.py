"""Frames as a film in a file: MP4 through the system's ffmpeg; GIF and WebP through Pillow."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dwell.errors import InputError
from dwell.plotting.gif import COLOURS as GIF_COLOURS
from dwell.plotting.gif import gif_bytes
from dwell.plotting.style import COLOURS, PLAIN
from dwell.progress import Progress
from dwell.results.files import written_whole

if TYPE_CHECKING:
    from PIL.Image import Image

Frame: TypeAlias = NDArray[np.uint8]  # (height, width, 3)

KINDS = ("mp4", "gif", "webp")
MARK = "dwell film"  # inside every file, which distinguishes our films from other files
HEAVIEST = 2**31  # pixels of a film that is kept in memory until its end
FASTEST = 50  # frames a second that a GIF can show: its clock ticks in hundredths
ENCODERS = ("libx264", "libopenh264", "mpeg4")  # the first that this ffmpeg has
LAST = 1500  # milliseconds that the last frame of a loop stays
SAMPLES = 5  # frames from which the colours of a GIF are chosen
OWN_COLOURS = (*COLOURS, PLAIN.start, PLAIN.final, PLAIN.ink, PLAIN.cell, PLAIN.faint, "#FFFFFF")


def kind_of(path: Path) -> str:
    """The format that the name of a film implies."""
    kind = path.suffix.removeprefix(".")
    if kind not in KINDS:
        raise InputError(
            f"the film {path} must end in {', '.join(f'.{known}' for known in KINDS)}",
            code="film.format",
        )
    return kind


def check_film(path: Path, *, force: bool = False) -> str:
    """The format of a film to be written to `path`; refused if it cannot be."""
    kind = kind_of(path)
    if kind == "mp4":
        find_ffmpeg()
    if not path.parent.is_dir():
        raise InputError(
            f"the folder {path.parent} does not exist; make it first", code="film.folder"
        )
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file", code="film.exists")
    if path.exists() and not force and not _is_ours(path):
        raise InputError(
            f"{path} exists and is not a film made here; move it, choose another name, or force it",
            code="film.exists",
        )
    return kind


def _is_ours(path: Path) -> bool:
    return path.is_file() and MARK.encode() in path.read_bytes()


def find_ffmpeg() -> str:
    """The system's ffmpeg; a sentence with a way out where there is none."""
    found = shutil.which("ffmpeg")
    if found is None:
        raise InputError(
            "an MP4 film needs the program ffmpeg, which was not found; install it with the "
            "system's packages, or let the film end in .gif or .webp",
            code="film.ffmpeg",
        )
    return found


def check_load(kind: str, size: tuple[int, int], count: int, fps: float) -> None:
    """Refuse what a format cannot hold."""
    width, height = size
    if kind == "mp4" and (width % 2 or height % 2):
        raise InputError(
            f"an MP4 film of {width}x{height} pixels cannot be made; even numbers are needed",
            code="film.size",
        )
    if kind == "gif" and fps > FASTEST:
        raise InputError(
            f"a GIF shows at most {FASTEST} frames a second, got {fps:g}; take "
            "fewer, or let the film end in .mp4",
            code="film.fps",
        )
    if kind == "webp" and width * height * count > HEAVIEST:
        raise InputError(
            f"{count} frames of {width}x{height} pixels are too much for a .webp film; take fewer "
            "seconds, fewer frames a second or a smaller size, or let it end in .mp4",
            code="film.size",
        )


def write_film(
    frame: Callable[[int], Frame],
    count: int,
    path: Path,
    *,
    fps: float,
    progress: Progress | None = None,
) -> None:
    """Write frames 0 to count - 1 to `path`; it appears whole or not at all."""
    kind = kind_of(path)

    def reported_frames() -> Iterator[Frame]:
        for k in range(count):
            if progress is not None:
                progress("drawing", k / count)
            yield frame(k)

    with written_whole(path) as draft:
        if kind == "mp4":
            _write_mp4(reported_frames(), draft, fps)
        elif kind == "webp":
            _write_webp(reported_frames(), draft, durations(count, fps))
        else:
            samples = [frame(int(k)) for k in np.linspace(0, count - 1, SAMPLES)]
            _write_gif(reported_frames(), draft, durations(count, fps), samples)


def durations(count: int, fps: float) -> list[int]:
    """Milliseconds of each frame in whole hundredths of a second, right on average."""
    ticks = np.round(100.0 * np.arange(count + 1) / fps).astype(int)
    steps = (10 * np.diff(ticks)).tolist()
    return [*steps[:-1], max(steps[-1], LAST)]


# MP4.


def _write_mp4(frames: Iterator[Frame], draft: Path, fps: float) -> None:
    first = next(frames)
    height, width = first.shape[:2]
    program = find_ffmpeg()
    command = [
        program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
        "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-", "-an",
        *_encoding(program), "-pix_fmt", "yuv420p", "-movflags", "+faststart",
        "-fflags", "+bitexact", "-metadata", f"comment={MARK}", "-f", "mp4", str(draft),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=said)
        assert process.stdin is not None
        try:
            _feed(process.stdin, first, frames)
        except BrokenPipeError:
            pass  # what it said, and how it ended, tell more
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        if process.returncode != 0:
            raise InputError(f"ffmpeg could not make the film: {_words(said)}", code="film.ffmpeg")


def _feed(pipe: IO[bytes], first: Frame, others: Iterator[Frame]) -> None:
    with pipe:
        pipe.write(first.tobytes())
        for frame in others:
            pipe.write(frame.tobytes())


def _words(said: IO[bytes]) -> str:
    said.seek(0)
    return " ".join(said.read().decode("utf-8", "replace").split())[-300:] or "no reason given"


def _encoding(program: str) -> list[str]:
    """The best encoder that this ffmpeg was built with, and how finely it is to work."""
    listed = subprocess.run(
        [program, "-hide_banner", "-encoders"], capture_output=True, text=True, check=False
    ).stdout.split()
    best = next((name for name in ENCODERS if name in listed), ENCODERS[-1])
    if best == "libx264":
        return ["-c:v", best, "-crf", "18", "-preset", "medium"]
    return ["-c:v", best, "-q:v", "3"] if best == "mpeg4" else ["-c:v", best, "-b:v", "6M"]


# GIF and WebP.


def _write_gif(
    frames: Iterator[Frame], draft: Path, times: list[int], samples: list[Frame]
) -> None:
    with draft.open("wb") as file:
        for part in gif_bytes(frames, _palette(samples), times, MARK):
            file.write(part)


def _palette(samples: list[Frame]) -> Image:
    """Colours for the whole film: those of agents and ink exactly, the others as they occur."""
    from matplotlib.colors import to_rgb
    from PIL import Image

    own = [round(255 * part) for colour in OWN_COLOURS for part in to_rgb(colour)]
    left = GIF_COLOURS - len(OWN_COLOURS)
    found = Image.fromarray(np.vstack(samples)).quantize(left, method=Image.Quantize.MEDIANCUT)
    image = Image.new("P", (1, 1))
    image.putpalette([*own, *(found.getpalette() or [])[: 3 * left]])
    return image


def _write_webp(frames: Iterator[Frame], draft: Path, times: list[int]) -> None:
    from PIL import Image

    images = (Image.fromarray(frame) for frame in frames)
    with draft.open("wb") as file:
        next(images).save(
            file, format="WEBP", save_all=True, append_images=images, duration=times, loop=0,
            quality=90, method=3, xmp=MARK.encode(),
        )  # fmt: skip
