"""The units of every number inside: plain floats in SI, named by these annotations.

A field annotated ``Seconds`` is a float in seconds. The reader of scenarios turns text such as
``30min`` or ``400Gbps`` into that float; no other code converts units.
"""

from __future__ import annotations

from typing import Annotated

Seconds = Annotated[float, "s"]
Bytes = Annotated[float, "B"]
BytesPerSecond = Annotated[float, "B/s"]
Flops = Annotated[float, "FLOP"]
FlopsPerSecond = Annotated[float, "FLOP/s"]
Watts = Annotated[float, "W"]
Joules = Annotated[float, "J"]
Dollars = Annotated[float, "$"]
DollarsPerHour = Annotated[float, "$/h"]
DollarsPerKilowattHour = Annotated[float, "$/kWh"]
KilogramsPerKilowattHour = Annotated[float, "kg/kWh"]
Share = Annotated[float, "share"]
"""A part of a whole, written ``8%`` or ``0.08``."""
Count = Annotated[int, "count"]
"""A whole number, written ``2048`` or ``15.6T``."""
Number = Annotated[float, "number"]
"""A plain number without a unit, such as a factor or a shape."""
