"""Frames as a film in a file: MP4 through the system's ffmpeg; GIF and WebP through Pillow."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dwell._checks import check_flag
from dwell.errors import InputError
from dwell.plotting.save import format_of
from dwell.plotting.style import COLOURS, PLAIN, rgba
from dwell.progress import Progress
from dwell.results.files import refuse_foreign, written_whole

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels: TypeAlias = NDArray[np.uint8]
Frame: TypeAlias = Pixels  # (height, width, 3)

KINDS = ("mp4", "gif", "webp")
MARK = "dwell film"  # inside every file, which distinguishes our films from other files
HEAVIEST = 2**31  # pixels of a film that is kept in memory until its end
FASTEST = 50  # frames a second that a GIF can show: its clock ticks in hundredths
ENCODERS = ("libx264", "libopenh264", "mpeg4")  # the first that this ffmpeg has
LAST = 1500  # milliseconds that the last frame of a loop stays
SAMPLES = 5  # frames from which the colours of a GIF are chosen
CLEAR = 255  # the colour of a GIF that lets the frame before show through; 255 others are left
OWN_COLOURS = (*COLOURS, PLAIN.start, PLAIN.final, PLAIN.ink, PLAIN.cell, PLAIN.faint, "#FFFFFF")


def check_film(path: Path, *, force: bool = False) -> str:
    """The format of a film to be written to `path`; refused if it cannot be."""
    check_flag("force", force)
    kind = format_of(path, "film", KINDS)
    if kind == "mp4":
        find_ffmpeg()
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file", code="film.exists")
    if not force:
        refuse_foreign(path, MARK, "a film", "film.exists", "choose another name, or force it")
    return kind


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

    def reported_frames() -> Iterator[Frame]:
        for k in range(count):
            if progress is not None:
                progress("drawing", k / count)
            yield frame(k)

    kind, times = path.suffix, durations(count, fps)
    with written_whole(path) as draft:
        if kind == ".mp4":
            _write_mp4(reported_frames(), draft, fps)
            return
        with draft.open("wb") as file:
            if kind == ".webp":
                _write_webp(reported_frames(), file, times)
            else:
                palette = _palette([frame(int(k)) for k in np.linspace(0, count - 1, SAMPLES)])
                file.writelines(_gif_parts(reported_frames(), palette, times))


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
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=messages)
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                for frame in chain([first], frames):
                    pipe.write(frame.tobytes())
        except BrokenPipeError:
            pass  # its messages, and how it ended, tell more
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        if process.returncode != 0:
            messages.seek(0)
            reason = " ".join(messages.read().decode("utf-8", "replace").split())[-300:]
            raise InputError(
                f"ffmpeg could not make the film: {reason or 'no reason given'}",
                code="film.ffmpeg",
            )


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


def _gif_parts(frames: Iterator[Frame], palette: Image, times: list[int]) -> Iterator[bytes]:
    """The parts of a GIF, of which each frame holds only what differs from the frame before.

    Pillow compresses each frame; it would keep all frames in memory if it wrote the whole film.
    """
    from PIL import GifImagePlugin, Image

    colours = np.reshape(palette.getpalette() or [], (-1, 3))
    white = (colours == 255).all(axis=1).argmax().astype(np.uint8)
    before = None
    for frame, time in zip(frames, times, strict=True):
        image = Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE)
        # Pillow takes colours within four shades for one, and most of a film is white.
        now = np.where((frame == 255).all(axis=2), white, np.asarray(image))
        part, corner = now, (0, 0)
        if before is None:
            header = {"loop": 0, "comment": MARK.encode()}
            yield from GifImagePlugin.getheader(image, info=header)[0]
        else:
            part, corner = _changed(now, before)
        yield from GifImagePlugin.getdata(
            Image.fromarray(part), corner, duration=time, disposal=1, transparency=CLEAR
        )
        before = now
    yield b";"


def _changed(now: Pixels, before: Pixels) -> tuple[Pixels, tuple[int, int]]:
    """The smallest rectangle with all that changed, clear elsewhere; and its upper left corner."""
    changed = now != before
    changed[0, 0] |= not changed.any()
    rows, columns = (np.flatnonzero(changed.any(axis=k)) for k in (1, 0))
    part = np.where(now != before, now, np.uint8(CLEAR))
    part = part[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return np.ascontiguousarray(part), (int(columns[0]), int(rows[0]))


def _palette(samples: list[Frame]) -> Image:
    """Colours for the whole film: those of agents and ink exactly, the others as they occur."""
    from PIL import Image

    own = [round(255 * part) for colour in OWN_COLOURS for part in rgba(colour)[:3]]
    left = CLEAR - len(OWN_COLOURS)
    found = Image.fromarray(np.vstack(samples)).quantize(left, method=Image.Quantize.MEDIANCUT)
    image = Image.new("P", (1, 1))
    image.putpalette([*own, *(found.getpalette() or [])[: 3 * left]])
    return image


def _write_webp(frames: Iterator[Frame], file: BinaryIO, times: list[int]) -> None:
    from PIL import Image

    images = (Image.fromarray(frame) for frame in frames)
    next(images).save(
        file, format="WEBP", save_all=True, append_images=images, duration=times, loop=0,
        quality=90, method=3, xmp=MARK.encode(),
    )  # fmt: skip
