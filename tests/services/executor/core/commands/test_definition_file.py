"""A definition is one text, whatever files it comes in, and the command and the core read the same one."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.executor.core.commands.definition_file import definition_in, text_of
from wavepool_client.commands.submissions import definition_of, source_of

TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "task.py", "source": "task.py"}
  - {"name": "utils.py", "source": "../utils.py"}
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "eval.py", "source": "../eval.py"}
tests:
  - {"m": 64}
"""
WANTED = f"# file: task.yml\n{TASK}\n# file: reference.py\nR = 1\n# file: task.py\nT = 1\n# file: utils.py\nU = 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    problem = tmp_path / "mine"
    problem.mkdir()
    (problem / "task.yml").write_text(TASK)
    for path, text in {"mine/reference.py": "R = 1", "mine/task.py": "T = 1", "utils.py": "U = 1"}.items():
        (tmp_path / path).write_text(text)
    return problem


def test_files_of_kernelbot_become_one_text(folder: Path) -> None:
    for read in (definition_in, definition_of):
        assert read(folder) == read(folder / "task.yml") == WANTED
        assert read(folder / "task.py") == "T = 1"


def test_without_a_list_the_reference_is_beside_the_task(folder: Path) -> None:
    (folder / "task.yml").write_text("tests: []\n")
    for read in (definition_in, definition_of):
        assert read(folder) == "# file: task.yml\ntests: []\n\n# file: reference.py\nR = 1\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_a_file_is_read_in_the_encoding_that_its_first_bytes_say(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "mine.hip"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    file.write_bytes(f"{mark}int µ;".encode(encoding))
    assert text_of(file) == source_of(file) == "int µ;"
