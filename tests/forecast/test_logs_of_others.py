"""Public logs whose finish is known: forecast from a part of them, the finish lies inside."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from simulator.measured import logs
from simulator.measured.disturbances import disturbances, without_starts
from simulator.measured.series import Series, series
from simulator.outcome.step_error import SURE
from simulator.studies.forecast.step import forecast_step

SHARED = Path(os.environ.get("FORETRAIN_TRACES", Path(__file__).parents[3] / "shared/data/traces")) / "logs"
LONG = (
    "nanogpt_124m_8xh100.log.gz",
    "deepspeed_sft_opt1.3b.log.gz",
    "megatron_scalars/gpt_15b_tp8_h100.json.gz",
    "megatron_scalars/mixtral_8x7b_tp2pp4ep4_h100.json.gz",
)
"""Logs of hundreds of lines; of a test of 50 steps the first ones still settle."""


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("name", LONG)
def test_the_finish_lies_in_the_range_that_the_log_alone_gives(name, share):
    if not (SHARED / name).is_file():
        pytest.skip("logs of others, which are not part of this project, are not at hand")
    whole = series(logs.read(gzip.decompress((SHARED / name).read_bytes()).decode(), name))
    cut = int(len(whole.steps) * share)
    starts = tuple(start for start in whole.starts if start < cut)
    seen = Series(whole.steps[:cut], starts, (), (), 0.0)
    ahead = whole.steps[cut:]
    left = sum(one.steps for one in ahead)
    truth = np.average([one.seconds for one in ahead], weights=[one.steps for one in ahead])
    steps, _, _ = without_starts(seen)
    found = forecast_step(1.0, SURE, steps, disturbances(seen), left)
    assert found.ratio * found.error.low <= truth <= found.ratio * found.error.high
