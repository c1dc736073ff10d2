"""Whether the packages of scripts/package are what docs/packages.md promises: a row per promise, and what was left out.

Usage: package_check.py [--target TRIPLE]…            two builds in two directories, compared; then all that follows
       package_check.py --quick --binaries DIR…       packs programs that were built already, twice; then all that follows
       package_check.py --packages DIR                looks at packages that were made already

What follows: names, checksums, sizes, symbols; `inspect` in a root with nothing but the package, on each architecture (qemu-user),
with the same findings; installed and removed with dpkg; manual pages, completions, bill of materials, container file.
Exit codes: 0 every promise is kept (what was left out is said), 1 one is not, 2 it cannot be checked here.
"""

import argparse
import filecmp
import gzip
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST = 20_000_000  # bytes of one program: what newcomers download
EMULATORS = {"aarch64": "qemu-aarch64", "armv7": "qemu-arm", "x86_64": "qemu-x86_64"}
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64", "armv7": "armhf"}


class Table:
    """Promises beside what was found, in the form of all programs of scripts/prove."""

    def __init__(self):
        self.missed = 0
        self.line("target", "wanted", "found", "")

    @staticmethod
    def line(*cells):
        print(" | ".join(cells).rstrip(" |"), flush=True)

    def row(self, target, wanted, found, met):
        self.missed += not met
        self.line(target, wanted, str(found), "met" if met else "MISSED")

    @staticmethod
    def left_out(what, why):
        print(f"LEFT OUT: {what} ({why})", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--binaries", nargs="+", default=[])
    parser.add_argument("--packages")
    parser.add_argument("--target", action="append", default=[])
    asked = parser.parse_args()
    if asked.quick != bool(asked.binaries):
        parser.error("--quick takes programs that were built already: --binaries DIR…")
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        table = Table()
        if asked.packages:
            packages = Path(asked.packages).resolve()
        elif asked.quick:
            packages = packed_twice(table, work, asked.binaries)
        else:
            packages = built_twice(table, work, [word for target in asked.target for word in ("--target", target)])
        look_at(table, work, packages, built_for_tests(asked.binaries))
        if not asked.quick and not asked.packages:
            by_cargo_install(table, work)
    sys.exit(1 if table.missed else 0)


# --- the same bytes again ---------------------------------------------------------------------------------------------------------


def package(folder, *options):
    """Runs scripts/package of a checkout; what it leaves out is said by itself."""
    ended = subprocess.run([folder / "scripts/package", *options], stdout=subprocess.DEVNULL, check=False)
    if ended.returncode:
        sys.exit(ended.returncode)


def packed_twice(table, work, binaries):
    host = re.search("host: (.*)", said("rustc", "-vV")).group(1)
    os.environ["FLASHSCOPE_PACKAGE_LEVEL"] = "1"
    options = ["--target", host, *(word for folder in binaries for word in ("--binaries", folder))]
    for name in ("one", "two"):
        package(ROOT, "--out", work / name, *options)
    compare(table, "the same programs packed twice", work / "one", work / "two")
    return work / "one"


def built_twice(table, work, targets):
    """Here, and in a clone elsewhere: neither directory, time nor what lies beside the sources may show."""
    if said("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"):
        table.left_out("two builds of the same commit", "files differ from the commit")
        package(ROOT, "--out", work / "one", *targets)
        return work / "one"
    package(ROOT, "--out", work / "one", *targets)
    clone = work / "elsewhere" / "clone"
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, clone], check=True)
    os.environ.pop("CARGO_TARGET_DIR", None)
    package(clone, "--out", work / "two", *targets)
    compare(table, "two builds of one commit in two directories", work / "one", work / "two")
    return work / "one"


def built_for_tests(folders):
    """Names of programs that no release built, which --quick packs all the same: nobody downloads those."""
    shipped = {file.name for folder in folders if Path(folder).name == "release" for file in Path(folder).iterdir()}
    return {file.name for folder in folders for file in Path(folder).iterdir()} - shipped


def compare(table, what, one, two):
    names = sorted({file.name for folder in (one, two) for file in folder.iterdir()})
    _, differ, missing = filecmp.cmpfiles(one, two, names, shallow=False)
    found = f"{len(names)} files the same" if not differ + missing else f"differ: {', '.join(differ + missing)}"
    table.row(what, "the same bytes", found, not differ + missing)


# --- what is in them --------------------------------------------------------------------------------------------------------------


def look_at(table, work, packages, for_tests):
    checksums(table, packages)
    answers = {}
    for archive in sorted(packages.glob("flashscope-*.tar.gz")):
        if archive.name.endswith("-symbols.tar.gz"):
            continue
        target = re.search(r"-((?:x86_64|aarch64|armv7)-.*)\.tar\.gz$", archive.name).group(1)
        print(f"-- {target}", flush=True)
        tree = work / target
        unpack(archive, tree / "usr")
        unpack(archive.with_name(archive.name.replace(".tar.gz", "-symbols.tar.gz")), tree / "symbols")
        programs(table, target, tree, for_tests)
        answers[target] = inspect(table, work, target, packages)
        pages(table, tree)
        completions(table, tree)
        bill(table, tree)
    if not answers:
        sys.exit(f"no packages in {packages}")
    same_findings(table, answers)
    container(table, tree)


def unpack(archive, into):
    """Without the one folder that everything in it lies in."""
    into.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", archive, "-C", into, "--strip-components=1"], check=True)


def checksums(table, packages):
    if not (packages / "SHA256SUMS").exists():
        print(f"{packages} holds no whole packages: no SHA256SUMS\nhint: scripts/package --out {packages}", file=sys.stderr)
        sys.exit(2)
    lines = [line.split() for line in (packages / "SHA256SUMS").read_text().splitlines()]
    right = [name for sum_, name in lines if hashlib.sha256((packages / name).read_bytes()).hexdigest() == sum_]
    listed = {name for _, name in lines} | {"SHA256SUMS"} >= {file.name for file in packages.iterdir()}
    table.row("SHA256SUMS", "every file, with its sum", f"{len(right)} of {len(lines)} right", listed and len(right) == len(lines))


def programs(table, target, tree, for_tests):
    for program in sorted((tree / "usr/bin").iterdir()):
        elf = Elf(program.read_bytes())
        if program.name in for_tests:
            table.left_out(f"size of {program.name}", "built for tests, to be there soon; scripts/prove packages builds it as it is shipped")
        else:
            size = program.stat().st_size
            table.row(f"size of {program.name}", "at most 20.0 MB", f"{size / 1e6:.2f} MB", size <= MOST)
        symbols = tree / "symbols" / f"{program.name}.debug"
        apart = ".symtab" not in elf.sections and elf.debug_link() == symbols.name
        table.row(f"symbols of {program.name}", "in a file of their own", "apart" if apart else "not", apart and symbols.exists())
        if "-musl" in target or not target.startswith("x86_64"):
            table.row(f"{program.name} needs", "no library", "none" if elf.is_static else "a loader", elf.is_static)
        if target.startswith("aarch64"):
            # Android on arm64 has pages of 4 or of 16 KiB, and other kernels of 64.
            page = elf.alignment
            table.row(f"{program.name}: pages", "of up to 64 KiB", f"{page // 1024} KiB", page >= 65536)


class Elf:
    """As much of an ELF file as is asked here."""

    def __init__(self, data):
        self.data = data
        wide = data[4] == 2
        self.is_static = not any(kind == 3 for kind, _ in self.segments(wide))  # PT_INTERP
        self.alignment = min(align for kind, align in self.segments(wide) if kind == 1)  # PT_LOAD
        self.sections = self.named_sections(wide)

    def segments(self, wide):
        """Kind and alignment of each."""
        start, = struct.unpack_from("<Q" if wide else "<I", self.data, 32 if wide else 28)
        size, count = struct.unpack_from("<HH", self.data, 54 if wide else 42)
        form, at = ("<Q", 48) if wide else ("<I", 28)
        heads = [start + each * size for each in range(count)]
        return [(struct.unpack_from("<I", self.data, head)[0], struct.unpack_from(form, self.data, head + at)[0]) for head in heads]

    def named_sections(self, wide):
        """Offset and size in the file, by name."""
        start, = struct.unpack_from("<Q" if wide else "<I", self.data, 40 if wide else 32)
        size, count, names = struct.unpack_from("<HHH", self.data, 58 if wide else 46)
        form, at = ("<QQ", 24) if wide else ("<II", 16)
        heads = [start + each * size for each in range(count)]
        places = [struct.unpack_from(form, self.data, head + at) for head in heads]
        texts = places[names][0] if count else 0
        found = {}
        for head, place in zip(heads, places):
            begin = texts + struct.unpack_from("<I", self.data, head)[0]
            found[self.data[begin : self.data.index(b"\0", begin)].decode()] = place
        return found

    def debug_link(self):
        offset, size = self.sections.get(".gnu_debuglink", (0, 0))
        return self.data[offset : offset + size].split(b"\0")[0].decode()


# --- what they do -----------------------------------------------------------------------------------------------------------------


def inspect(table, work, target, packages):
    """What `inspect` says of the demo card where there is nothing but the package: its text, and its record's findings."""
    debs = list(packages.glob(f"*_{DEBIAN[target.split('-')[0]]}.deb"))
    if not debs or not shutil.which("dpkg-deb"):
        table.left_out(f"the .deb for {target} in a root of its own", "no dpkg-deb")
        return None
    bare = work / f"root-{target}"
    subprocess.run(["dpkg-deb", "--extract", debs[0], bare], check=True)
    with_dpkg(table, work, debs[0])
    run = runner(table, bare, target)
    if run is None:
        return None
    version, commit = re.match(r"flashscope_([\d.]+)(?:\+\d+\.([0-9a-f]{12}))?", debs[0].name).groups()
    wanted = f"flashscope {version} (commit {commit or 'unknown'}, {target})"
    told = run("--version").strip()
    table.row("--version", wanted, told, told == wanted)
    second_programs(table, run, bare, version)
    text = run("inspect", "-o", "/work/card")
    record = (bare / "work/card.json").read_text() if text else ""
    answered = text.startswith("SD card SD08G") and "allocation unit  4 MiB" in text
    table.row("inspect in a bare root", "the demo card's answer", text.splitlines()[0] if text else "nothing", answered)
    findings = re.search(r'\n  "findings": .*?\n  [\]}]', record, re.DOTALL)
    return {"text": text, "findings": findings.group(0) if findings else "", "record": record}


def second_programs(table, run, bare, version):
    """They start on their own, with nothing beside them, and are of the same version."""
    for program in sorted((bare / "usr/bin").iterdir()):
        if program.name != "flashscope":
            told = run("--version", program=program.name).strip()
            table.row(f"{program.name} --version", version, told or "nothing", version in told.split())


def runner(table, bare, target):
    """Starts the package's programs in that root; those of another architecture are emulated, by a program that lies there too."""
    if os.getuid() != 0:
        table.left_out(f"inspect in a bare root on {target}", "not root")
        return None
    (bare / "work").mkdir()
    words = ["chroot", bare]
    architecture = target.split("-")[0]
    if architecture != os.uname().machine:
        emulator = shutil.which(f"{EMULATORS[architecture]}-static")
        if emulator is None:
            table.left_out(f"inspect on {target}", f"no {EMULATORS[architecture]}-static: apt-get install qemu-user-static")
            return None
        shutil.copy(emulator, bare / "emulator")
        words += ["/emulator"]
    elif target.endswith("-gnu"):
        table.left_out("a bare root with nothing but the package", "this program is not static; its libraries lie there too")
        libraries(bare)

    def run(*arguments, program="flashscope"):
        """What it prints; nothing where it fails."""
        told = {"stdout": subprocess.PIPE, "text": True, "env": {"COLUMNS": "110", "PATH": os.environ["PATH"]}}
        ended = subprocess.run([*words, f"/usr/bin/{program}", *arguments], timeout=1800, check=False, **told)
        return ended.stdout if ended.returncode == 0 else ""

    return run


def libraries(bare):
    told = [said("ldd", program) for program in (bare / "usr/bin").iterdir()]
    for library in re.findall(r"/\S+", " ".join(told)):
        place = bare / library.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)


def same_findings(table, answers):
    answers = {target: answer for target, answer in answers.items() if answer}
    if len(answers) < 2:
        table.left_out("the same findings on other architectures", "packages for one architecture only")
        return
    first, *others = answers
    for part in ("text", "findings", "record"):
        # Of the record nothing but the target may differ, which is in it once.
        differ = [
            other for other in others if answers[other][part].replace(other, "TARGET") != answers[first][part].replace(first, "TARGET")
        ]
        found = f"differ from {first}: {', '.join(differ)}" if differ else f"the same on {len(answers)} targets"
        table.row(f"inspect, its {part}", "the same bytes on every target", found, not differ)


def with_dpkg(table, work, deb):
    """Installed below a directory, verified and removed; nothing is left of it, and nothing of this machine is touched."""
    if os.getuid() != 0:
        table.left_out("installed and removed with dpkg", "not root")
        return
    root = work / f"dpkg-{deb.stem}"
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/updates").mkdir()
    for name in ("status", "available"):
        (root / "var/lib/dpkg" / name).touch()
    dpkg = ["dpkg", f"--root={root}", "--force-architecture", "--force-depends", "--force-script-chrootless"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    codes = [subprocess.run([*dpkg, "--install", deb], **quiet).returncode]
    whole = not said("dpkg", f"--root={root}", "--verify", "flashscope")
    installed = (root / "usr/bin/flashscope").exists()
    codes.append(subprocess.run([*dpkg, "--purge", "flashscope"], **quiet).returncode)
    left = [str(file) for file in root.rglob("*") if file.is_file() and "flashscope" in file.name]
    good = codes == [0, 0] and whole and installed and not left
    table.row(f"dpkg with {deb.name.split('_')[2]}", "installs, verifies, removes all", f"codes {codes}, left {len(left)}", good)


def by_cargo_install(table, work):
    """From the sources, with Cargo alone; what was built for a release is taken, not built again."""
    root = work / "installed"
    command = ["cargo", "install", "--locked", "--quiet", "--path", ROOT / "crates/cli", "--root", root]
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    code = subprocess.run([*command, "--target-dir", built], check=False).returncode
    program = root / "bin/flashscope"
    told = said(program, "--version") if code == 0 else f"code {code}"
    table.row("cargo install --path crates/cli", "a program", told.strip(), code == 0)
    if code == 0:
        ended = subprocess.run([program, "history", "list"], stderr=subprocess.PIPE, text=True, check=False)
        hint = "cargo install --path crates/store" in ended.stderr
        table.row("without a second program", "says how to get it", ended.stderr.strip().splitlines()[-1], hint)


# --- what comes along -------------------------------------------------------------------------------------------------------------


def pages(table, tree):
    files = sorted((tree / "usr/share/man/man1").iterdir())
    if not shutil.which("mandoc"):
        table.left_out("manual pages without errors", "no mandoc")
        return
    wrong = []
    for file in files:
        text = gzip.decompress(file.read_bytes())
        ended = subprocess.run(["mandoc", "-T", "lint", "-W", "error"], input=text, stdout=subprocess.PIPE, check=False)
        if ended.returncode:
            wrong.append(f"{file.name}: {ended.stdout.decode().splitlines()[0]}")
    table.row("manual pages", "no errors by mandoc", wrong[0] if wrong else f"{len(files)} pages, 0 errors", files and not wrong)


def completions(table, tree):
    shells = {
        "bash": (["bash", "-c", 'source "$0" && complete -p flashscope'], "bash-completion/completions/flashscope"),
        "zsh": (["zsh", "-n"], "zsh/vendor-completions/_flashscope"),
        "fish": (["fish", "--no-execute"], "fish/vendor_completions.d/flashscope.fish"),
    }
    for shell, (words, file) in shells.items():
        file = tree / "usr/share" / file
        if not shutil.which(shell):
            table.left_out(f"completions read by {shell}", f"no {shell}")
            continue
        ended = subprocess.run([*words, file], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        good = ended.returncode == 0 and not ended.stderr and file.stat().st_size > 1000
        table.row(f"completions for {shell}", "read without a word", ended.stderr.strip() or "read", good)


def bill(table, tree):
    """Every crate of the programs is in Cargo.lock with that checksum, every reference leads somewhere, and none is there twice."""
    materials = json.loads((tree / "usr/share/doc/flashscope/flashscope.cdx.json").read_text())
    parts = {part["bom-ref"]: part for part in materials["components"]}
    lock = (ROOT / "Cargo.lock").read_text()
    wrong = [name for name, part in parts.items() if any(sum_["content"] not in lock for sum_ in part.get("hashes", []))]
    known = parts.keys() | {materials["metadata"]["component"]["bom-ref"]}
    wrong += [to for edge in materials["dependencies"] for to in [edge["ref"], *edge["dependsOn"]] if to not in known]
    unlicensed = [name for name, part in parts.items() if part["licenses"][0]["expression"] == "NOASSERTION"]
    good = not wrong and not unlicensed and len(parts) == len(materials["components"]) and materials["bomFormat"] == "CycloneDX"
    sums = sum("hashes" in part for part in parts.values())
    table.row("bill of materials", "all with licences, sums as locked", f"{len(parts)} parts, {sums} sums, {len(wrong)} wrong", good)
    licences = gzip.decompress((tree / "usr/share/doc/flashscope/third-party-licences.txt.gz").read_bytes()).decode()
    table.row("licences of libraries", "texts inside", f"{len(licences) / 1000:.0f} kB", "Permission is hereby granted" in licences)


def container(table, tree):
    """It cannot be built here; what it starts is in the package at least."""
    text = (ROOT / "Containerfile").read_text()
    program = json.loads(re.search(r"^ENTRYPOINT (.*)$", text, re.MULTILINE).group(1))[0]
    found = (tree / program.lstrip("/")).exists()
    table.row("container file", "starts a program of the package", program, found)
    table.left_out("the container file built", "a check of its words only; `podman build` needs a registry")


def said(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main()
