"""Comparisons of scripts/peers-test: what other people's tools said beside what ours and the model say.

Usage: peers_compare.py COMMAND ARGUMENTS…; each prints one line per comparison, and ends with 1 where one fails.

  align THEIRS OURS            two -a tables, cell by cell: within 3 % + 20 µs
  rates THEIRS OURS TOLERANCE  two tables of throughput, each of one run or the best cells of several (A,B,C): every cell within
                               the tolerance (0.1 is 10 %)
  log RECORD                   what was inferred from flashbench's log of the small twin: the truth, or cannot tell
  not8 RECORD                  never a confident 8 MiB where the truth is 24 MiB
  unit RECORD BYTES            the allocation unit is found
  geometry RECORD RECORD       two records name the same geometry
  near TOLERANCE NAME=VALUE…   all values within the tolerance of the first
  cell FILE BLOCK COLUMN       one rate of a table (or the best of A,B,C), in bytes per second
  fio FILE                     the rate in fio's JSON
  iozone FILE COLUMN           a rate of iozone's table (write, rewrite, read, reread), in bytes per second
"""

import json
import re
import sys

TIMES = {"s": 1.0, "m": 1e-3, "µ": 1e-6, "u": 1e-6, "n": 1e-9}
SIZES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}


def seconds(text):
    """flashbench prints at most seven characters, so a unit may be cut off: then it is nanoseconds."""
    number, unit = re.match(r"(-?[\d.]+(?:e[+-]?\d+)?)(\D?)", text).groups()
    return float(number) * TIMES[unit or "n"]


def align_rows(path):
    rows = {}
    for line in open(path, encoding="utf-8"):
        found = re.match(r"align (\d+)\s+pre (\S+)\s+on (\S+)\s+post (\S+)", line)
        if found:
            rows[int(found[1])] = [seconds(cell) for cell in found.groups()[1:]]
    return rows


def rate_rows(path):
    rows = {}
    for line in open(path, encoding="utf-8"):
        found = re.match(r"([\d.]+[KMG]?i?B)\s+(.*)", line)
        if found:
            cells = re.findall(r"([\d.]+(?:e[+-]?\d+)?)([KMG]?)/", found[2])
            rows[found[1]] = [float(number) * SIZES[unit] for number, unit in cells]
    return rows


def best_rates(paths):
    """The highest rate of each cell over runs, as flashbench itself keeps the shortest time: what delays, delays."""
    best = {}
    for path in paths.split(","):
        for block, cells in rate_rows(path).items():
            best[block] = [max(pair) for pair in zip(cells, best.get(block, cells), strict=True)]
    return best


def verdict(what, holds, seen):
    print(f"  {'ok    ' if holds else 'FAILED'} {what}: {seen}")
    return holds


def align(theirs, ours):
    theirs, ours = align_rows(theirs), align_rows(ours)
    # At the largest alignment flashbench counts half reads around the device's end, which ours leaves out.
    shared = sorted(set(theirs) & set(ours))[:-1]
    worst, cells = (0.0, ""), 0
    for at in shared:
        for role, a, b in zip(("pre", "on", "post"), theirs[at], ours[at]):
            cells += 1
            share = abs(a - b) / (0.03 * max(a, b) + 20e-6)
            worst = max(worst, (share, f"{role} at {at}: {a * 1e6:.0f} µs and {b * 1e6:.0f} µs"))
    return verdict("align, cell by cell (3 % + 20 µs)", len(shared) >= 6 and worst[0] <= 1, f"{cells} cells, worst {worst[1]}")


def rates(theirs, ours, tolerance):
    theirs, ours, tolerance = best_rates(theirs), best_rates(ours), float(tolerance)
    shared = [block for block in theirs if len(theirs[block]) == len(ours.get(block, []))]
    pairs = [(block, a, b) for block in shared for a, b in zip(theirs[block], ours[block])]
    worst = max((max(a, b) / min(a, b) - 1, block, a, b) for block, a, b in pairs) if pairs else (9, "", 0, 0)
    seen = f"{len(pairs)} cells, worst {worst[0]:.1%} at {worst[1]}: {worst[2] / 1e6:.2f} and {worst[3] / 1e6:.2f} MB/s"
    return verdict(f"throughput, cell by cell ({tolerance:.0%})", shared == list(theirs) and worst[0] <= tolerance, seen)


def geometry_of(path):
    return json.load(open(path, encoding="utf-8"))["geometry"]


def answer(finding, unit):
    """(value, at least, confidence)"""
    return finding.get(unit), finding.get("at_least"), finding.get("confidence") or 0.0


def told(finding, unit="bytes"):
    value, least, confidence = answer(finding, unit)
    if value is None and least is None:
        return f"cannot tell ({finding['reason_unknown']})"
    return f"{'at least ' if value is None else ''}{value if value is not None else least} ({confidence:.1%})"


def log(record):
    """The twin: units of 1 MiB, pages of 16 KiB, 8 open units in both orders, unit 1 fast."""
    found = geometry_of(record)
    holds = True
    for name, unit, truth in (
        ("allocation_unit", "bytes", 1 << 20),
        ("page", "bytes", 16 << 10),
        ("open_units_linear", "count", 8),
    ):
        value, least, _ = answer(found[name], unit)
        # A table of powers of two cannot tell 1 MiB from 3: "at least 1 MiB" is the whole truth.
        right = value == truth or (value is None and least == truth and name == "allocation_unit")
        holds &= verdict(f"infer on flashbench's log, {name}", right, told(found[name], unit))
    value, least, _ = answer(found["open_units_random"], "count")
    right = value in (None, 8) and (least is None or least <= 8)
    holds &= verdict("infer on flashbench's log, open_units_random is 8 or abstained from", right, told(found["open_units_random"], "count"))
    return holds


def not8(record):
    unit = geometry_of(record)["allocation_unit"]
    value, least, confidence = answer(unit, "bytes")
    holds = value in (None, 24 << 20) or confidence < 0.5
    others = ", ".join(str(other) for other in unit.get("alternatives", []))
    return verdict("infer on flashbench's log of 24 MiB units says no confident 8 MiB", holds, f"{told(unit)}; or {others}")


def unit(record, wanted):
    found = geometry_of(record)["allocation_unit"]
    return verdict("inspect, allocation unit", found["bytes"] == int(wanted), told(found))


def same_geometry(emulated, virtual):
    emulated, virtual = geometry_of(emulated), geometry_of(virtual)
    holds = True
    for name in ("allocation_unit", "page", "page_inner", "open_units_linear", "open_units_random", "small_write_path", "fast_area"):
        a, b = emulated.get(name), virtual.get(name)
        if a is None and b is None:
            continue
        sizes = ("bytes", "count", "at_least", "at_most", "up_to_bytes", "first_bytes", "end_bytes", "kind")
        plain = lambda finding: {key: finding[key] for key in sizes if finding.get(key) is not None} or "cannot tell"
        same = plain(a) == plain(b)
        holds &= verdict(f"{name}, emulated and virtual", same, f"{json.dumps(plain(a))} and {json.dumps(plain(b))}")
    return holds


def near(tolerance, *pairs):
    values = [(name, float(value)) for name, value in (pair.rsplit("=", 1) for pair in pairs)]
    reference = values[0][1]
    off = max(abs(value / reference - 1) for _, value in values)
    seen = ", ".join(f"{name} {value / 1e6:.2f} MB/s" for name, value in values)
    return verdict(f"within {float(tolerance):.0%}", off <= float(tolerance), f"{seen} (off by {off:.1%})")


def fio(path):
    job = json.load(open(path, encoding="utf-8"))["jobs"][0]
    print(max(job["read"]["bw_bytes"], job["write"]["bw_bytes"]))
    return True


def iozone(path, column):
    index = ("write", "rewrite", "read", "reread").index(column)
    for line in open(path, encoding="utf-8"):
        cells = line.split()
        if len(cells) >= 6 and all(cell.isdigit() for cell in cells[:6]):
            print(int(cells[2 + index]) * 1024)
            return True
    sys.exit(f"no table in {path}")


def cell(path, block, column):
    print(best_rates(path)[block][int(column)])
    return True


COMMANDS = {
    "align": align, "rates": rates, "log": log, "not8": not8, "unit": unit, "geometry": same_geometry, "near": near,
    "cell": cell, "fio": fio, "iozone": iozone,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(0 if COMMANDS[sys.argv[1]](*sys.argv[2:]) else 1)
