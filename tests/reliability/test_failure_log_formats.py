"""Logs of other people: their columns say what they are, and their rows become events or lives."""

from __future__ import annotations

import pytest

from simulator.calibration.failures import Watched, parse
from simulator.errors import ScenarioError
from simulator.reliability.failures.trace import Trace
from simulator.reliability.logs.reading import read

HOUR, DAY = 3600.0, 86400.0
FLEET = Watched(gpus=80, hosts=10, nics=80, wall=100 * DAY)

LANL = """\
System,nodes,nodenum,node install,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time,\
Facilities,Hardware,Human Error,Network,Undetermined,Software
20,10,3,01/01/2002,01/11/2003 06:00,01/11/2003 07:30,90,,Node Board,,,,
20,10,4,01/01/2002,01/21/2003 06:00,01/21/2003 06:10,10,,,,,,OS
20,10,3,01/01/2002,01/31/2003 06:00,01/31/2003 16:00,,,Memory Dimm,,,,
"""
TITAN = """\
SN,location,insert,remove,duration,out,event
a,c0-0c0s0n0,01/01/2014 00:00,01/11/2014 00:00,10,1,DBE
b,c0-0c0s0n1,01/01/2014 00:00,01/31/2014 00:00,30,0,
c,c0-0c0s0n2,01/01/2014 00:00,01/21/2014 00:00,20,1,OTB
"""
SACCT = """\
JobID|State|Start|End|Elapsed|NNodes|NodeList
1|COMPLETED|2024-01-01T00:00:00|2024-01-02T00:00:00|1-00:00:00|4|h[1-4]
1.batch|COMPLETED|2024-01-01T00:00:00|2024-01-02T00:00:00|1-00:00:00|1|h1
2|NODE_FAIL|2024-01-02T00:00:00|2024-01-02T12:00:00|12:00:00|8|h[1-8]
3|CANCELLED by 1000|2024-01-02T00:00:00|2024-01-02T02:00:00|02:00:00|2|h[9-10]
4|FAILED|2024-01-03T00:00:00|2024-01-03T06:00:00|06:00:00|1|h7
5|RUNNING|2024-01-04T00:00:00|Unknown|10:00:00|1|h8
6|FAILED|2024-01-04T00:00:00|2024-01-04T00:00:00|00:00:00|1|h8
"""
ACME = """\
job_id,user,node_num,gpu_num,state,start_time,end_time,duration
a,u,16,128,COMPLETED,2023-03-01 00:00:00+08:00,2023-03-01 01:00:00+08:00,3600
b,u,16,128,NODE_FAIL,2023-03-01 02:00:00+08:00,2023-03-01 02:30:00+08:00,1800
"""


def test_an_outage_in_lanls_log_is_a_failure_of_a_node():
    hardware, software = parse(LANL, "lanl.csv", FLEET)
    assert (hardware.name, hardware.unit, hardware.count) == ("hardware", "host", 2)
    assert hardware.rate.value == pytest.approx(2 / (10 * 100 * DAY))
    assert (software.name, software.count) == ("software", 1)


def test_lanls_down_time_is_in_minutes_and_follows_from_the_dates_where_it_is_left_out():
    assert [row.away for row in read(LANL, "lanl.csv").rows] == [90 * 60, 10 * 60, 10 * HOUR]


def test_every_life_of_titans_gpus_is_watched_for_every_event():
    found = {one.name: one for one in parse(TITAN, "titan.csv", FLEET)}
    assert found.keys() == {"dbe", "otb"}
    for one in found.values():
        assert one.unit == "gpu"
        assert one.exposure == 60 * DAY
        assert one.rate.value == pytest.approx(1 / (60 * DAY))


def test_a_summary_of_titans_gpus_counts_the_same():
    text = "SN,days,dbe,otb\na,10,1,0\nb,30,0,0\nc,20,0,1\n"
    assert [(one.name, one.count, one.exposure) for one in parse(text, "titan.csv", FLEET)] == [
        ("dbe", 1, 60 * DAY),
        ("otb", 1, 60 * DAY),
    ]


def test_jobs_watch_their_hosts_for_as_long_as_they_run():
    found = {one.name: one for one in parse(SACCT, "sacct.txt", FLEET)}
    assert found["node fail"].unit == "host"
    assert found["node fail"].exposure == (4 * 24 + 8 * 12 + 2 * 2 + 6 + 10) * HOUR
    assert found["job failed"].unit == "job"
    assert found["job failed"].exposure == (24 + 12 + 2 + 6 + 10) * HOUR
    assert {one.count for one in found.values()} == {1}
    assert all(one.shape is None for one in found.values())


def test_a_job_table_with_slurms_states_is_one_too():
    (found,) = parse(ACME, "acme.csv", FLEET)
    assert (found.name, found.exposure) == ("node fail", 16 * 1.5 * HOUR)


@pytest.mark.parametrize(("text", "events"), [(LANL, 3), (TITAN, 2), (SACCT, 2)])
def test_every_format_can_be_replayed(text, events):
    trace = Trace(unit="host", log=text)
    ahead = trace.events()
    first = [next(ahead) for _ in range(events)]
    again = next(ahead)
    assert trace.rate(10) == pytest.approx(events / first[-1].time)
    assert again.time - first[0].time == pytest.approx(first[-1].time)


def test_a_dated_log_is_replayed_at_its_own_pace():
    events = Trace(unit="host", log=LANL, only="hardware").events()
    assert [next(events)[:2] for _ in range(3)] == [(20 * DAY, 0), (40 * DAY, 0), (60 * DAY, 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "known besides: LANL's failure log; Slurm's job accounts; Titan's GPU lifetimes"),
        (LANL.replace("01/21/2003 06:00", "yesterday"), "log:3: prob started: expected a date"),
        (LANL.replace(",90,", ",long,"), "log:2: down time: expected a number"),
        (SACCT.replace("06:00:00|1|h7", "six|1|h7"), "log:6: elapsed: expected a time"),
        (TITAN.replace("01/11/2014", "01/11/2013"), "log:2: remove: a life takes more than no time"),
    ],
)
def test_a_wrong_cell_is_named(text, message):
    with pytest.raises(ScenarioError, match=message):
        read(text, "log")


def test_a_log_without_failures_has_no_rates():
    with pytest.raises(ScenarioError, match="no failures"):
        parse("\n".join(line for line in SACCT.splitlines() if "FAIL" not in line), "sacct.txt", FLEET)
