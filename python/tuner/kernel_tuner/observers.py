# SPDX-License-Identifier: Apache-2.0
"""Observers by their names. None runs while kernels are timed: what `tune` measures itself is in its reports."""

from __future__ import annotations

import sys
from typing import Any


class BenchmarkObserver:
    """Base of a script's own observers, which are not called."""

    reason = "candidates run in processes of their own, without Python"


class OutputObserver(BenchmarkObserver):
    pass


class _Named(BenchmarkObserver):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.arguments, self.named = arguments, named


class NVMLObserver(_Named):
    reason = "clocks and power limits are never changed; energy is measured by `tune --energy`"


class NCUObserver(_Named):
    reason = "counters are read by `tune explain`"


class RegisterObserver(_Named):
    reason = "registers are in the report and in `tune bench`"


class PMTObserver(_Named):
    reason = "there is no such sensor"


class PowerSensorObserver(_Named):
    reason = "there is no such sensor"


class TegraObserver(_Named):
    reason = "there is no such device"


for _module in ("observer", "nvml", "ncu", "register", "pmt", "powersensor", "tegra"):
    sys.modules[f"{__name__}.{_module}"] = sys.modules[__name__]  # each observer in the module that scripts name
