"""Names, comments and docstrings use the terms of docs/glossary.md.

``python -m tests.test_words src/dwell/theory`` lists what a folder still has to change.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("src/dwell", "tests/sweep", "tests/workers")
PERSONS = "everybody nobody somebody anybody whoever everyone told asked asks promise promised"
HOME_MADE = """look looks looked looking leg legs room rooms wall walls hill hills rim rims fans
demand demands door doors crew desk vigil course rooms dear met doubt cruise fade bend
"""
BANNED = frozenset(PERSONS.split() + HOME_MADE.split())
OF_TYPESCRIPT = {"promise", "cruise", "fade", "bend"}  # a type of the language; columns of files
OF_THE_PAGE = BANNED - OF_TYPESCRIPT | {"heard"}
# Keys of the server, and the name of a template.
WIRE = re.compile(r'\bspent\?*(\.looked|: \{ looked)|\["looked"\]|\btwo-hills\b')
CODE = re.compile(r"`+[^`]+`+|^ *\w+ : ", re.M)  # in prose: code, and parameters of numpydoc
OPENINGS = re.compile(r'^[rf]?"""(The same|Likewise|As wanted|Gives )')
# Names in files, on the wire, in JSON and of the front door, which do not change.
PUBLIC = frozenset(
    [
        "doubt",
        "wall_seconds",
        "cruise",
        "fade",
        "bend",
        "looked",
        "looks",
        "promise",
        "promised",
        "room",
        "START_CRUISE",
        "START_BEND",
    ]
)


def parts(name: str) -> list[str]:
    """The words of an identifier: of ``look_many`` and of ``LookTable``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")


def faults(path: Path) -> Iterator[tuple[int, str]]:
    """Line and wording of each banned word in names, comments and docstrings of a file."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        words: list[str] = []
        if token.type == tokenize.NAME and token.string not in PUBLIC:
            words = parts(token.string)
        elif token.type == tokenize.COMMENT:
            words = re.findall(r"[a-z]+", CODE.sub("", token.string).lower())
        elif token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT):
            words = re.findall(r"[a-z]+", CODE.sub("", token.string).lower())
            if OPENINGS.match(token.string):
                yield token.start[0], token.string.splitlines()[0]
        for word in words:
            if word in BANNED:
                yield token.start[0], f"{word}: {token.string.splitlines()[0]}"
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


def faults_of_the_page(path: Path) -> Iterator[tuple[int, str]]:
    """Line and wording of each banned word in a file of TypeScript."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for name in re.findall(r"\w+", WIRE.sub("", line)):
            for word in parts(name):
                if word in OF_THE_PAGE:
                    yield number, f"{word}: {line.strip()}"


def test_banned_words_do_not_come_back_to_the_page():
    paths = sorted((ROOT / "page" / "src").rglob("*.ts*"))
    assert paths
    found = [f"{path}:{line} {what}" for path in paths for line, what in faults_of_the_page(path)]
    assert not found


def test_banned_words_are_found_on_the_page(tmp_path):
    file = tmp_path / "one.ts"
    file.write_text('const roomLeft = c["looked"];\nlegend(start.spent?.looked); // told\n')
    assert [line for line, _ in faults_of_the_page(file)] == [1, 2]


@pytest.mark.parametrize("folder", FOLDERS)
def test_banned_words_do_not_come_back(folder):
    paths = files(ROOT / folder)
    found = [f"{path}:{line} {what}" for path in paths for line, what in faults(path)]
    assert not found


def test_banned_words_are_found(tmp_path):
    file = tmp_path / "one.py"
    file.write_text('"""The same."""\n\ndef look_many(told):  # whoever\n    """Cells."""\n')
    assert [line for line, _ in faults(file)] == [1, 3, 3, 3]


def files(folder: Path) -> list[Path]:
    """The Python files of a folder, in order."""
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for file in files(Path(name)):
            for line, what in faults(file):
                print(f"{file}:{line} {what}")
