"""Builds distributions of plug-ins as anybody's, and installs them into a folder of their own.

A wheel of pure Python is installed by unpacking it where Python looks; the machine of the tests may have no pip.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "plugins.md"
EXAMPLE_FILES = {"toml": "pyproject.toml", "python": "wavepool_short_first.py"}


def install_all(work: Path) -> Path:
    """The folder into which the example of the page and those beside this file are installed."""
    site = work / "site"
    example = work / "short_first"
    example.mkdir()
    text = PAGE.read_text().partition("## A complete example")[2]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for language, content in blocks:
        if language in EXAMPLE_FILES:
            (example / EXAMPLE_FILES[language]).write_text(content)
    for project in ("favoured_machines", "journal_channel"):
        shutil.copytree(HERE / project, work / project)
    for project in (example, work / "favoured_machines", work / "journal_channel"):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(work / "wheels")]
        subprocess.run(build, cwd=project, check=True, capture_output=True)
    for wheel in (work / "wheels").iterdir():
        zipfile.ZipFile(wheel).extractall(site)
    return site
