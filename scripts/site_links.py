"""Preprocessor of mdBook for docs/book.toml: links to files outside docs/ lead to the repository.

mdBook calls it twice, with `supports RENDERER` and then with the book on stdin. In the folder itself such links are relative, so
that they work in a checkout.
"""

import json
import posixpath
import re
import sys


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    repository = context["config"]["output"]["html"]["git-repository-url"]
    for chapter in chapters(book):
        if chapter["path"]:
            chapter["content"] = outwards(chapter["content"], posixpath.dirname(chapter["path"]), repository)
    json.dump(book, sys.stdout)


def chapters(part):
    """Every chapter below a part of the book, whatever the lists that hold them are called."""
    if isinstance(part, list):
        for each in part:
            yield from chapters(each)
    elif isinstance(part, dict):
        if "Chapter" in part:
            yield part["Chapter"]
            yield from chapters(part["Chapter"]["sub_items"])
        else:
            yield from chapters([each for each in part.values() if isinstance(each, list)])


def outwards(text, folder, repository):
    def link(found):
        path = posixpath.normpath(posixpath.join("docs", folder, found.group(1)))
        inside = path == "docs" or path.startswith("docs/")
        return found.group(0) if inside else f"]({repository}/blob/HEAD/{path}{found.group(2)})"

    return re.sub(r"\]\((\.\./[^)#\s]*)((?:#[^)\s]*)?)\)", link, text)


main()
