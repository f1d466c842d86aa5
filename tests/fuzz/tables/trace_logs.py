"""Logs of failures that no monitor writes, replayed by `run` and read by `check`."""

from __future__ import annotations

from collections.abc import Iterator

from attack import Attack
from odd_files import FILES
from small import scenario

HEAD = "time,host,class,downtime\n"
ROW = "3600,0,GPU,600\n"
HOSTS = (
    *("", "-1", "1.5", "1e3", "0x1", "²", "١٢", "½", "9" * 5_000, "9" * 30, "1000000000", "node-7", "a b", "\x1b[31m"),
    *("[/red]", "=1+1", "'", '"a""b"', "nan", "None", "\u202ex", "é", "x" * 10_000, "-", "+1", "1_0", " 1"),
)
TIMES = (
    "",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e309",
    "1e308",
    "1e-400",
    "9" * 5_000,
    "x",
    "1h",
    "2020-01-01",
    "0",
    "³",
    "1,5",
)
TEXTS = {
    "a header alone": HEAD,
    "no header": ROW,
    "a header twice": HEAD + HEAD + ROW,
    "a column twice": "time,time,host\n1,2,0\n",
    "columns of nothing": ",,,\n1,2,3,4\n",
    "rows too short": HEAD + "1\n2\n",
    "rows too long": HEAD + "1,2,3,4,5,6,7\n",
    "rows out of order": HEAD + "7200,0,GPU,1\n3600,1,GPU,1\n",
    "one time a thousand times": HEAD + ROW * 1_000,
    "beyond the length": HEAD + "99999999999,0,GPU,1\n",
    "100,000 rows": HEAD + "".join(f"{n},{n % 4},GPU,60\n" for n in range(100_000)),
    "one a microsecond": HEAD + "".join(f"{n / 1e6:.6f},0,GPU,60\n" for n in range(1_000)),
    "CR": HEAD.replace("\n", "\r") + ROW.replace("\n", "\r"),
    "a NUL": HEAD + "3600,0,G\0PU,600\n",
    "semicolons": HEAD.replace(",", ";") + ROW.replace(",", ";"),
    "tabs": HEAD.replace(",", "\t") + ROW.replace(",", "\t"),
    "lives": "cause,lifetime,ended\nGPU,100,1\n",
    "both times and lives": "time,lifetime,cause\n1,2,GPU\n",
    "away for ever": HEAD + "3600,0,GPU,1e300\n",
    "away before it began": HEAD + "3600,0,GPU,-5\n",
    "a cause of markup": HEAD + "3600,0,<script>alert(1)</script>,5\n",
    "Slurm": "NodeName,State,TimeStart,TimeEnd\nn1,DOWN,2020-01-01T00:00:00,2020-01-01T01:00:00\n",
    "Slurm of no time": "NodeName,State,TimeStart,TimeEnd\nn1,DOWN,Unknown,None\n",
    "LANL": "System,nodenum,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm)\n2,1,13/45/99 99:99,x\n",
}


def attacks() -> Iterator[Attack]:
    logs = [(f"host {host[:20]!r}", f"{HEAD}{ROW}7200,{host},GPU,60\n") for host in HOSTS]
    logs += [(f"time {time[:20]!r}", f"{HEAD}{ROW}{time},1,GPU,60\n") for time in TIMES]
    logs += [(f"downtime {time[:20]!r}", f"{HEAD}{ROW}7200,1,GPU,{time}\n") for time in TIMES]
    text = scenario(HOSTS="4") + "failures: {causes: [{kind: trace, unit: host, file: log.csv, length: 30d}]}\n"
    for what, content in (*logs, *TEXTS.items(), *FILES.items()):
        named = ("/etc/passwd", "/dev/zero") if what.startswith("to-") else ()
        for verb in (["check"], ["run", "--json"]):
            files = {"mine.yaml": text, "log.csv": content}
            yield Attack(f"{verb[0]}: {what}", [*verb, "mine.yaml"], files, named=named, wait=40)
