"""What is inside the programs of scripts/package: a bill of materials (CycloneDX 1.5), and the licences of all of it.

Usage: bill_of_materials.py TARGET --bill FILE --licences FILE

Read from `cargo metadata` and Cargo.lock: every crate that is linked into a program for TARGET, with its checksum, and what lies
inside crates without being one (SQLite, uPlot). Same sources, same bytes: the time is SOURCE_DATE_EPOCH's, and nothing is drawn.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    target, bill, licences = sys.argv[1], sys.argv[3], sys.argv[5]
    if (sys.argv[2], sys.argv[4]) != ("--bill", "--licences"):
        sys.exit(__doc__)
    metadata = cargo_metadata(target)
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {node["id"]: linked(node) for node in metadata["resolve"]["nodes"]}
    programs = [id for id in metadata["workspace_members"] if is_packaged(packages[id])]
    inside = [id for id in reached(programs, edges, packages) if not is_macro(packages[id])]
    with open(bill, "w", encoding="utf-8") as file:
        json.dump(materials(target, packages, edges, programs, inside), file, indent=2, ensure_ascii=False)
        file.write("\n")
    with open(licences, "w", encoding="utf-8") as file:
        file.write(licence_texts([packages[id] for id in inside]))


def cargo_metadata(target):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def is_packaged(package):
    told = (package["metadata"] or {}).get("flashscope") or {}
    return told.get("packaged", True) and any(target["kind"] == ["bin"] for target in package["targets"])


def linked(node):
    """What a crate depends on at run time: neither what builds it nor what tests it."""
    return sorted(
        dependency["pkg"] for dependency in node["deps"] if any(kind["kind"] is None for kind in dependency["dep_kinds"])
    )


def is_macro(package):
    return any("proc-macro" in target["kind"] for target in package["targets"])


def reached(programs, edges, packages):
    seen, open_ids = set(), list(programs)
    while open_ids:
        id = open_ids.pop()
        if id not in seen:
            seen.add(id)
            # A macro runs in the compiler, and so does what it depends on.
            open_ids.extend([] if is_macro(packages[id]) else edges[id])
    return sorted(seen)


def materials(target, packages, edges, programs, inside):
    checksums = lock_checksums()
    rust = subprocess.run(["rustc", "-V"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[1]
    version = next(package["version"] for package in packages.values() if package["name"] == "flashscope-cli")
    product = {"type": "application", "bom-ref": "flashscope", "name": "flashscope", "version": version}
    product["properties"] = [{"name": "target", "value": target}]
    parts = [component(packages[id], checksums) for id in inside]
    extra = [plain("rust-std", rust, "MIT OR Apache-2.0", f"pkg:generic/rust-std@{rust}"), *not_crates(packages, inside)]
    depends = [{"ref": "flashscope", "dependsOn": sorted(reference(packages[id]) for id in programs)}]
    for id in inside:
        needs = sorted(reference(packages[to]) for to in edges[id] if to in inside)
        depends.append({"ref": reference(packages[id]), "dependsOn": needs})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": timestamp(), "component": product},
        "components": parts + extra,
        "dependencies": depends,
    }


def timestamp():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def plain(name, version, licence, purl):
    # Before SPDX's expressions crates wrote a stroke for "or".
    licences = [{"expression": licence.replace("/", " OR ")}]
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "licenses": licences, "purl": purl}


def component(package, checksums):
    entry = plain(package["name"], package["version"], package["license"] or "NOASSERTION", reference(package))
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return entry


def lock_checksums():
    """Checksum of each crate of a registry, by name and version."""
    found = {}
    for block in (ROOT / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]")[1:]:
        told = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', block, re.MULTILINE))
        if "checksum" in told:
            found[told["name"], told["version"]] = told["checksum"]
    return found


def not_crates(packages, inside):
    """What is inside a crate, has a version of its own, and is looked up by it where a weakness becomes known."""
    script = ROOT / "crates/report/assets/uplot/uPlot.iife.min.js"
    uplot = re.search(r"\(v([\d.]+)\)", script.read_text(encoding="utf-8")[:200]).group(1)
    yield plain("uplot", uplot, "MIT", f"pkg:npm/uplot@{uplot}")
    for id in inside:
        if packages[id]["name"] == "libsqlite3-sys":
            header = folder(packages[id]) / "sqlite3/sqlite3.h"
            sqlite = re.search(r'#define SQLITE_VERSION\s+"([\d.]+)"', header.read_text(encoding="utf-8")).group(1)
            yield plain("sqlite", sqlite, "blessing", f"pkg:generic/sqlite@{sqlite}")


def folder(package):
    return Path(package["manifest_path"]).parent


def licence_texts(packages):
    """The texts that lie beside each crate, each text once, under the crates that come with it."""
    texts = {}
    for package in packages:
        if package["source"] is None:
            continue
        files = [file for file in folder(package).iterdir() if file.is_file() and is_licence(file.name)]
        for file in sorted(files):
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            texts.setdefault(text, []).append(f"{package['name']} {package['version']}")
    uplot = (ROOT / "crates/report/assets/uplot/LICENSE").read_text(encoding="utf-8").strip()
    texts.setdefault(uplot, []).append("uPlot")
    parts = [f"{', '.join(dict.fromkeys(names))}\n\n{text}\n" for text, names in texts.items()]
    return f"\n{'=' * 80}\n".join(parts)


def is_licence(name):
    return bool(re.match(r"(?i)(licen[cs]e|copying|copyright|notice|unlicense)", name))


main()
