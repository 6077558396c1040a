# SPDX-License-Identifier: MIT
"""pytest's last line is `N passed, N failed` (`, N skipped` may follow), which tests/run adds up."""

from __future__ import annotations

import pytest


def pytest_unconfigure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or config.option.collectonly:  # or `--help` and the like
        return
    passed, failed, errors, skipped = (len(reporter.stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped"))
    print(f"{passed} passed, {failed + errors} failed" + (f", {skipped} skipped" if skipped else ""))
