"""Checks what could keep the lab from working; each finding has its fix in one line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from threading import Thread

from workbook.errors import WorkbookError
from workbook.stack import lab_checks, machine_checks, server_checks
from workbook.stack.report import Finding, Report

PATIENCE = 8.0
"""Seconds after which a check that has not ended is reported as such."""

Check = Callable[[], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "Python": machine_checks.python,
    "Java": machine_checks.java,
    "memory": machine_checks.memory,
    "disk": machine_checks.disk,
    "cache": machine_checks.cache,
    "folders": machine_checks.lab_folders,
    "notebooks": machine_checks.notebooks,
    "time zone": machine_checks.time_zone,
    "locale": machine_checks.language,
    "environment": machine_checks.environment,
    "Spark memory": machine_checks.spark_memory,
    "Spark master": lab_checks.spark_master,
    "jars": lab_checks.jar_files,
    "network": lab_checks.network,
    "ports": server_checks.ports_free,
    "broker": server_checks.kafka_answers,
    "registry": server_checks.registry_answers,
    "database": server_checks.database_answers,
    "supervisor": lab_checks.supervisor,
    "other labs": lab_checks.other_labs,
    "leftovers": lab_checks.leftovers,
}
"""Subject to check. Each yields its findings, or raises a ``WorkbookError``, which is a fault."""


def examine() -> Report:
    """Look at everything at once; takes a few seconds, ``PATIENCE`` at the very most."""
    deadline = time.monotonic() + PATIENCE
    looking = [_Look(*check) for check in CHECKS.items()]
    return Report(f for look in looking for f in look.findings(deadline - time.monotonic()))


class _Look(Thread):
    """Runs a check in a thread of its own, with a time limit."""

    def __init__(self, subject: str, check: Check) -> None:
        super().__init__(name=f"doctor: {subject}", daemon=True)
        self.subject, self.check, self.found = subject, check, list[Finding]()
        self.start()

    def run(self) -> None:
        try:
            self.found.extend(self.check())
        except WorkbookError as error:
            text, _, fix = str(error).partition(". ")
            self.found.append(Finding(self.subject, "fault", text, fix or text))
        except Exception as error:  # a machine can be wrong in ways that nobody thought of
            text = f"could not be looked at: {type(error).__name__}: {error}"
            fix = "Please report this with the output of: python -m workbook doctor"
            self.found.append(Finding(self.subject, "fault", text, fix))

    def findings(self, within: float) -> list[Finding]:
        self.join(max(within, 0))
        if not self.is_alive():
            return self.found
        text = f"no answer within {PATIENCE:.0f} s: something hangs, or the machine is very busy"
        fix = "Look again when it is less busy; if this stays, restart what is named here."
        return [Finding(self.subject, "fault", text, fix)]
