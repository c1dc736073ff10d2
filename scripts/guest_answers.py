"""Checks what the binary said in the guest: part of scripts/guest-test.

Usage: guest_answers.py FILE, where FILE has, for each thing that was tried, a line "@@@ NAME CODE", its stdout, "@@@ said", its
stderr, and "@@@ end".
"""

import json
import re
import sys


def read(path):
    """{name: (exit code, stdout, stderr)}"""
    text = open(path, encoding="utf-8", errors="replace").read().replace("\r", "")
    parts = re.findall(r"^@@@ (\w+) (\d+)\n(.*?)^@@@ said\n(.*?)^@@@ end$", text, re.M | re.S)
    return {name: (int(code), out, err) for name, code, out, err in parts}


class Checks:
    def __init__(self, answers):
        self.answers, self.failed = answers, 0

    def that(self, what, holds, seen):
        print(f"  {'ok    ' if holds else 'FAILED'} {what}: {seen}")
        self.failed += not holds

    def exit_code(self, name, wanted, says=None):
        code, _, err = self.answers[name]
        first = err.strip().splitlines()[0] if err.strip() else ""
        self.that(f"{name.replace('_', ' ')} ends with {wanted}", code == wanted, f"{code}, {first}")
        if says:
            self.that(f"{name.replace('_', ' ')} says {says!r}", re.search(says, err) is not None, first)


def look_at_list(checks):
    """The card's registers, decoded here and by the binary."""
    _, name, cid, csd, scr = checks.answers["kernel"][1].split()
    checks.exit_code("list", 0)
    listed = json.loads(checks.answers["list"][1])
    card = next((device for device in listed["devices"] if device["path"] == "/dev/mmcblk0"), None)
    checks.that("/dev/mmcblk0 is listed", card is not None, [device["path"] for device in listed["devices"]])
    if card is None:
        return
    bus = card["bus"]
    checks.that("its kind", card["kind"] == "SD card", card["kind"])
    checks.that("its name", card["model"] == name == "QEMU!", card["model"])
    checks.that("nobody uses it", card["uses"] == [] and not card["holds_running_system"], card["uses"])
    checks.that("its partition", [part["path"] for part in card["partitions"]] == ["/dev/mmcblk0p1"], card["partitions"])
    # CID: manufacturer, OEM, name, revision, serial, date since 2000 (SD physical layer 5.2).
    number = lambda text: int(text, 16)
    checks.that("CID, manufacturer", number(bus["manufacturer_id"]) == number(cid[0:2]), bus["manufacturer_id"])
    checks.that("CID, OEM", number(bus["oem_id"]) == number(cid[2:6]), bus["oem_id"])
    checks.that("CID, name", bus["name"] == bytes.fromhex(cid[6:16]).decode(), bus["name"])
    checks.that("CID, revision", bus["hardware_revision"] == "0x" + cid[16] and bus["firmware_revision"] == "0x" + cid[17],
                f"{bus['hardware_revision']}, {bus['firmware_revision']}")
    checks.that("CID, serial", number(bus["serial"]) == number(cid[18:26]), bus["serial"])
    date = f"{number(cid[29]):02}/{2000 + number(cid[27:29])}"
    checks.that("CID, date", bus["date"] == date, bus["date"])
    # CSD version 2: (C_SIZE + 1) · 512 KiB; TRAN_SPEED 0x32 is 25 Mbit/s (5.3.3). SCR: SD_SPEC 2 is version 2 or later (5.6).
    size = (number(csd[14:20]) & 0x3FFFFF) + 1 << 19
    checks.that("CSD, capacity", csd[0] == "4" and card["capacity_bytes"] == size == 4 << 30, card["capacity_bytes"])
    checks.that("CSD, rate", csd[6:8] == "32" and bus["line_rate_bytes_per_s"] == 25e6 / 8, bus["line_rate_bytes_per_s"])
    checks.that("SCR, version", scr[1] == "2" and str(bus["sd_version"]).startswith(("2", "3")), f"{bus['sd_version']} ({scr})")
    text = checks.answers["text"][1]
    checks.that("the text says it too", "SD card" in text and "QEMU!" in text, text.splitlines()[0] if text else "")


def look_at_registers(checks):
    """The same registers by `mmc show`, each field where the specification has it."""
    _, name, cid, csd, scr = checks.answers["kernel"][1].split()
    checks.exit_code("mmc_show", 0)
    shown = json.loads(checks.answers["mmc_show"][1])
    registers = {one["register"]: one for one in shown["registers"]}
    checks.that("mmc show has what sysfs has", (registers["cid"]["hex"], registers["csd"]["hex"], registers["scr"]["hex"]) == (cid, csd, scr),
                sorted(registers))
    fields = {(word, one["name"]): one for word in registers for one in registers[word]["fields"]}
    checks.that("mmc show, name", fields["cid", "PNM"]["words"] == f'"{name}"', fields["cid", "PNM"]["words"])
    checks.that("mmc show, rate", fields["csd", "TRAN_SPEED"]["value"] == 25_000_000, fields["csd", "TRAN_SPEED"]["words"])
    checks.that("an SD card has no register of wear", shown["health"] is None, shown["summary"].get("health"))
    checks.exit_code("mmc_check", 2, "no eMMC part|identity|refused")


def look_at_inspect(checks):
    checks.exit_code("inspect", 0)
    record = json.loads(checks.answers["inspect"][1])
    device, cost = record["device"], record["cost"]
    checks.that("its kind in the record", device["kind"] == "sd_card" and not device["simulated"], device["kind"])
    checks.that("nothing was written", cost["written_bytes"] == 0, cost["written_bytes"])
    checks.that("something was read", cost["read_bytes"] > 0, cost["read_bytes"])
    checks.that("read with direct I/O", "O_DIRECT" in record["path"]["flags"] and not record["path"]["fallbacks"], record["path"]["flags"])


def look_at_clock_steps(checks):
    """A day forward and two back: about a day back in all, and no time of the run shows it."""
    checks.exit_code("clock_steps", 0)
    _, out, err = checks.answers["clock_steps"]
    began, ended = (int(line) for line in err.split() if line.isdigit())
    checks.that("the clock was stepped", -87000 < ended - began < -86000, f"{ended - began} s")
    record = json.loads(out)
    job = record["phases"][0]["runs"][0]["jobs"][0]
    read = job["read"]
    checks.that("the run took its time", 6e9 <= job["elapsed_ns"] < 60e9 and job["ended"]["how"] == "complete", job["elapsed_ns"])
    checks.that("no request took the step", 0 < read["service_time"]["max_ns"] < 60e9, read["service_time"]["max_ns"])
    checks.that("no stall either", job["longest_stall"]["time_ns"] < 60e9, job["longest_stall"]["time_ns"])


def main():
    checks = Checks(read(sys.argv[1]))
    look_at_list(checks)
    look_at_registers(checks)
    look_at_inspect(checks)
    look_at_clock_steps(checks)
    checks.that("the partition was mounted", checks.answers["mounted"][0] == 0, checks.answers["mounted"][1].strip())
    for name in ("ungranted", "wrong_identity", "signature", "mounted_write"):
        checks.exit_code(name, 3, "refused for safety")
    for name in ("mounted_read", "mounted_partition"):
        checks.exit_code(name, 3, "refused to read")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
