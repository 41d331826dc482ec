"""The linter: proves a problem fit for the catalogue, with numpy alone.

`python -m problems.library.lint [slug...]` prints its findings. It exits with status 1 if there are any, and with 2 for
an unknown slug; it reports its progress on stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from problems.kit.definition import CatalogueEntry
from problems.library.case_lint import lint_cases, lint_variant
from problems.library.catalogue import Catalogue, CatalogueError
from problems.library.findings import Finding
from problems.library.text_lint import lint_texts
from problems.library.variants import variants_of

BAD_USAGE = 2


def lint(entry: CatalogueEntry) -> list[Finding]:
    """All findings about a problem; empty for a good one."""
    findings = [*lint_texts(entry), *lint_cases(entry.problem)]
    if not findings:
        findings = [finding for variant in variants_of(entry.problem) for finding in lint_variant(variant)]
    return findings


def main(slugs: Sequence[str]) -> int:
    """Lints the problems with these slugs, or all of them; returns the exit status."""
    try:
        catalogue = Catalogue.load()
        entries = [catalogue.get(slug) for slug in slugs] or catalogue.entries()
    except CatalogueError as error:
        sys.stderr.write(f"{error}\n")
        return BAD_USAGE
    findings: list[Finding] = []
    for number, entry in enumerate(entries, start=1):
        sys.stderr.write(f"looking at {entry.problem.slug} ({number} of {len(entries)})\n")
        found = lint(entry)
        sys.stdout.writelines(f"{finding}\n" for finding in found)
        sys.stdout.flush()
        findings += found
    sys.stdout.write(f"{len(entries)} problems, {len(findings)} findings\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
