"""Runs the SQL blocks of a page of the documentation on a dataset: the first one makes views, each further one is a query."""

import json
import os
import re
import sys
import tempfile
import time

import duckdb


def count_peak_anew() -> None:
    with open("/proc/self/clear_refs", "w", encoding="ascii") as refs:
        refs.write("5")


def peak() -> float:
    """The most memory that this process had since then, in MiB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))


def main(data: str, page: str) -> None:
    text = open(page, encoding="utf-8").read()
    views, *queries = re.findall(r"^```sql\n(.*?)^```$", text, re.M | re.S)
    # The queries ask `results/`, as a reader would call it.
    with tempfile.TemporaryDirectory() as place:
        os.symlink(data, os.path.join(place, "results"))
        os.chdir(place)
        connection = duckdb.connect()
        connection.execute(views)
        answers = []
        for sql in queries:
            count_peak_anew()
            began = time.perf_counter()
            rows = connection.execute(sql).fetchall()
            took = 1000 * (time.perf_counter() - began)
            answers.append({"sql": sql, "ms": took, "mib": peak(), "rows": rows})
        rows = connection.execute("SELECT count(*) FROM figures").fetchone()[0]
        os.chdir("/")
    json.dump({"version": duckdb.__version__, "rows": rows, "answers": answers}, sys.stdout, default=str)


main(*sys.argv[1:])
