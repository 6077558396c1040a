# SPDX-License-Identifier: MIT
"""pytest's last line is `N passed, N failed` (`, N skipped` may follow), which tests/run adds up. Tests with the mark `all_tier`
are of `tests/run --all` only."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("NW_TIER") != "default":
        return
    later = [item for item in items if item.get_closest_marker("all_tier")]
    items[:] = [item for item in items if item not in later]
    config.hook.pytest_deselected(items=later)


def pytest_unconfigure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or config.option.collectonly:  # or `--help` and the like
        return
    passed, failed, errors, skipped = (len(reporter.stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped"))
    print(f"{passed} passed, {failed + errors} failed" + (f", {skipped} skipped" if skipped else ""))
