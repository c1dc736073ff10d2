"""Preprocessor of mdBook for docs/book.toml: links that work in a checkout are made to work in the site.

Those to files outside docs/ lead to the repository, and those to a README.md to the index.html that mdBook makes of it. mdBook calls
this twice, with `supports RENDERER` and then with the book on stdin.
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
            chapter["content"] = of_site(chapter["content"], posixpath.dirname(chapter["path"]), repository)
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


def of_site(text, folder, repository):
    def link(found):
        to, place = found.groups()
        path = posixpath.normpath(posixpath.join("docs", folder, to))
        if path != "docs" and not path.startswith("docs/"):
            return f"]({repository}/blob/HEAD/{path}{place})"
        return f"]({re.sub('README[.]md$', 'index.md', to)}{place})"

    # Relative ones: those with a scheme have a colon.
    return re.sub(r"\]\(([^):#\s]+)((?:#[^)\s]*)?)\)", link, text)


main()
