# SPDX-License-Identifier: Apache-2.0
"""Arguments whose precision is a parameter."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence

import numpy

_DTYPES = {"half": "f2", "__half": "f2", "float16": "f2", "f16": "f2", "float": "f4", "single": "f4", "float32": "f4", "f32": "f4",
           "double": "f8", "float64": "f8", "f64": "f8"}


class TunablePrecision:
    """An array that is converted to the type that a parameter names. Each type is tuned by itself."""

    def __init__(self, param_key: str, array: Any, dtypes: Optional[Mapping[str, Any]] = None) -> None:
        self.parameter, self.array = param_key, array
        self._dtypes: Dict[str, Any] = dict(dtypes) if dtypes is not None else dict(_DTYPES)

    def __call__(self, params: Mapping[str, Sequence[Any]]) -> Any:
        name = params[self.parameter][0]
        if name not in self._dtypes:
            raise ValueError(f"TunablePrecision: {self.parameter} is {name!r}: there are {', '.join(self._dtypes)}")
        return numpy.asarray(self.array).astype(self._dtypes[name])


class AccuracyObserver:
    """The error of results. `tune` has it as a share of the bound, in its reports."""

    reason = "`tune` verifies each configuration; its errors are in the report"

    def __init__(self, *_: Any, **__: Any) -> None:
        pass
