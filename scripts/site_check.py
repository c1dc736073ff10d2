"""Whether a site that mdBook made holds together: every link leads somewhere, every page is there, and search has its index.

Usage: site_check.py SITE; exit code 1 where something is missing.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

DOCS = Path(__file__).resolve().parent.parent / "docs"


class Page(HTMLParser):
    """The places of a page, and where its links lead."""

    def __init__(self, file):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.ids.update(told[name] for name in ("id", "name") if told.get(name))
        if tag in ("a", "img", "link", "script"):
            self.links += [told[name] for name in ("href", "src") if told.get(name)]


def main():
    site = Path(sys.argv[1]).resolve()
    pages = {file: Page(file) for file in site.rglob("*.html")}
    wrong = [
        f"{file.relative_to(site)}: {link}"
        for file, page in pages.items()
        for link in page.links
        if not leads_somewhere(site, file, link, pages)
    ]
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_name("index" if page.stem == "README" else page.stem).with_suffix(".html")
        if page.name != "SUMMARY.md" and site / name not in pages:
            wrong.append(f"no page {name}")
    index = [file for file in site.glob("searchindex*.js*") if file.stat().st_size > 100_000]
    if not index:
        wrong.append("no index for search")
    links = sum(len(page.links) for page in pages.values())
    print(f"{len(pages)} pages, {links} links, {len(wrong)} wrong; index for search: {len(index)} files")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


def leads_somewhere(site, file, link, pages):
    """Links to other hosts are not followed: a site is checked without a network."""
    path, _, place = link.partition("#")
    if "://" in path or path.startswith(("data:", "mailto:")):
        return True
    # The page for errors may be shown at any address, and names its files from the root.
    base = site if path.startswith("/") or file.name == "404.html" else file.parent
    to = (base / unquote(path).lstrip("/")).resolve() if path else file
    if to.is_dir():
        to /= "index.html"
    if to not in pages:
        return to.exists()
    return not place or unquote(place) in pages[to].ids


main()
