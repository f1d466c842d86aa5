"""The order in which a pipeline stage works; the clock decides when."""

from simulator.workload.schedules.base import Schedule, Task

__all__ = ["Schedule", "Task"]
