"""Links and pictures of a built site that lead to nothing: `broken_links.py FOLDER` prints them. Addresses
outside of the site are not opened.

Status: 1 where there are some.
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """What a page links to, and the places in it that others can link to."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.places = set(), {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.places.update(named[name] for name in ("id", "name") if named.get(name))
        self.targets.update(named[name] for name in ("href", "src") if named.get(name))


def broken(folder):
    """(page, target) of each link of the site without an end."""
    root = pathlib.Path(folder).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        for target in sorted(page.targets):
            address = urllib.parse.urlsplit(target)
            if address.scheme or address.netloc:
                continue
            end = (path.parent / urllib.parse.unquote(address.path)).resolve() if address.path else path
            place = urllib.parse.unquote(address.fragment)
            if not end.exists() or end in pages and place not in pages[end].places:
                yield str(path.relative_to(root)), target


def main():
    found = list(broken(sys.argv[1]))
    for page, target in found:
        print(f"{page}: {target}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
