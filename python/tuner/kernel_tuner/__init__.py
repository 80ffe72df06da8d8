# SPDX-License-Identifier: Apache-2.0
"""Scripts of Kernel Tuner, on tuner: import tuner.kernel_tuner as kernel_tuner.

Unchanged scripts run by `python3 -m tuner.kernel_tuner SCRIPT`. What is refused or ignored: docs/howto/run-kernel-tuner-scripts.md.
"""

from . import accuracy, file_utils, integration, kernelbuilder, observers, strategies, util
from ._interface import run_kernel, tune_kernel
from ._options import Refused
from .integration import create_device_targets, store_results
from .kernelbuilder import PythonKernel

__all__ = ["PythonKernel", "Refused", "accuracy", "create_device_targets", "file_utils", "integration", "kernelbuilder", "observers",
           "run_kernel", "store_results", "strategies", "tune_kernel", "util"]
