"""What a user may say: one file a section, a reader with places and hints, and the JSON Schema."""

from simulator.scenario.cluster import Cluster
from simulator.scenario.reader import from_dict, read
from simulator.scenario.reading import Assumption
from simulator.scenario.scenario import Scenario
from simulator.scenario.schema import json_schema

__all__ = ["Assumption", "Cluster", "Scenario", "from_dict", "json_schema", "read"]
