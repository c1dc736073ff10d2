"""flashscope-mem under an emulator of another processor: what it measures is complete, and what it verifies is right.

Usage: arm_memory.py QEMU PROGRAM. Exit codes: 0 all is well, 1 a check failed.
"""

import json
import subprocess
import sys

MIB = 1 << 20
# Longer than any of it takes under an emulator on a busy machine.
PATIENCE = 120
# Whose error each kind of planted flip is.
PLANTED = {"cell": "memory_cell", "buffer": "memory_cell", "path": "memory_path", "copy": "memory_path"}
COUNT = 3


def answered(test, time):
    """The record's part that the program says of one test."""
    limits = {"time": int(time * 1e9), "threads": 2, "huge": False, "memory": None}
    child = subprocess.Popen(sys.argv[1:3], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # It ends as soon as its stdin is closed, so that this stays open until it has said all.
    child.stdin.write(json.dumps({"tests": [test], "limits": limits}) + "\n")
    child.stdin.flush()
    lines = [json.loads(line) for line in child.stdout]
    child.stdin.close()
    code = child.wait(PATIENCE)
    last = lines[-1] if lines else {}
    check("done" in last, f"{test}: ended with {code} and {last}")
    return json.loads(last["done"])


def check(holds, what):
    if not holds:
        print(f"FAILED: {what}")
        sys.exit(1)


def stressed(kind):
    plant = {"kind": kind, "count": COUNT} if kind else None
    return answered({"stress": {"memory": 8 * MIB, "share": 0.7, "seed": 11, "plant": plant}}, 1)["stress"]


def main():
    clean = stressed(None)
    check(clean["passes"] > 0 and clean["wrong"] == 0 and not clean["errors"], f"clean memory: {clean}")
    print(f"  clean memory: {clean['passes']} passes, nothing invented")
    for kind, cause in PLANTED.items():
        stress = stressed(kind)
        check((stress["planted"], stress["planted_found"]) == (COUNT, COUNT), f"{kind}: {stress}")
        causes = {error["cause"] for error in stress["errors"]}
        check(causes == {cause}, f"{kind}: {causes} instead of {cause}")
    print(f"  planted flips: {COUNT} of {COUNT} found and named, of each of {len(PLANTED)} kinds")

    rows = answered({"bandwidth": {"kernels": [], "array": 2 * MIB}}, 1)["bandwidth"]
    kernels = {row["kernel"] for row in rows}
    check(kernels == {"read", "write", "copy", "scale", "add", "triad"}, f"loops: {kernels}")
    check(all(row["rates_bytes_per_s"] and min(row["rates_bytes_per_s"]) > 0 for row in rows), f"rates: {rows}")
    for test in ("latency", "inspect"):
        part = answered({test: {"most": 8 * MIB}}, 1)
        check(len(part["latency"]) > 20 and all(min(row["times_ns"]) > 0 for row in part["latency"]), f"{test}: {part}")
    check(part["findings"], "nothing follows from latencies")
    print(f"  {len(rows)} rates, {len(part['latency'])} latencies, {len(part['findings'])} findings")


main()
