#!/usr/bin/env python3
"""Checks the English of the pages, the comments and the messages (CONTRIBUTING.md).

Phrases that readers trip over do not occur, sentences of the pages stay short, and links lead
somewhere. `words_test.py --report` prints the sentence lengths of every page.
"""

import dataclasses
import pathlib
import re
import statistics
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Phrase:
    pattern: str  # a regular expression, searched in one paragraph, cell, comment or message
    bad: str      # a text that has it
    plain: str    # the same in plain English


PHRASES = [
    Phrase(r"\bheld against\b", "Every launch is held against the limits.",
           "Every launch is checked against the limits."),
    Phrase(r"\bholds? (?:\w+ ){1,3}against\b", "It holds each access against the allocations.",
           "It checks each access against the allocations."),
    Phrase(r"(?<![Tt]here )\b(?:is|are|was|were) no\b(?! (?:longer|more|less|later|earlier|larger|smaller)\b)",
           "A plain integer is no address.", "A plain integer is not an address."),
    Phrase(r"(?i)\b(?:nobody|somebody)\b", "Nobody writes the weights.", "No kernel writes the weights."),
    Phrase(r"\bstands?\b(?! for\b)", "The wait stands before the loop.", "The wait is before the loop."),
    Phrase(r"(?:^|[.:;] )Of (?!course\b)", "Of steps whose own is auto.",
           "The mode of steps that leave it at auto."),
    Phrase(r"(?:^|[.;] )What (?![^.]*\?)", "What a file is, its bytes decide.",
           "Baton detects the file type from its bytes."),
    Phrase(r"(?:^|[.;] )Else\b", "Else the cache is asked.", "Otherwise the cache is asked."),
    Phrase(r"\btold apart\b|\btells? \w+ apart\b", "Two lists are told apart.",
           "Two lists are distinguished."),
    Phrase(r"\bmade anew\b|\blest\b|\b(?:its|their) kin\b|\bturned? round\b", "The graph is made anew.",
           "The graph is rebuilt."),
    Phrase(r"\bgoes? before all\b|\bwhatever else is said\b", "BATON_PDL=off goes before all.",
           "BATON_PDL=off overrides this."),
    Phrase(r"\bvouch(?:es)?\b", "The caller vouches for the pointer.", "The caller guarantees that the pointer is valid."),
    Phrase(r"\b(?:gives?|given) up\b|\bwithout a word\b", "A silent rank is given up.",
           "A rank that sends nothing ends the run."),
    Phrase(r"\bbehind (?:(?:a|an|its|the|their|that|this|each|no) )?(?:wait|waits|barrier|barriers|fence|fences|launch)\b",
           "The load comes behind the wait.", "The load comes after the wait."),
    Phrase(r"\bone behind the other\b", "Events are one behind the other.", "Events follow one another."),
    Phrase(r"\bhas no use for\b|\bknows? nothing of\b", "It has no use for the option.",
           "It does not take the option."),
]

# A comment in a source may be a fragment that says what a field holds, or where something is in a file.
FRAGMENTS = ("What", "Of ", "stands?")

# What belongs to one interface alone: an option of the command line outside of a whole call, a member of a C++ class,
# a function of C++ by its bare name.
OWN_NAMES = re.compile(r"(?<![\w-])--[a-z][a-z-]*|\b[A-Z]\w+::\w+|\bpdl\(\)|\b(?:bind|set|reset|initialise|enqueue)\(\)")
WHOLE_CALL = re.compile(r"\b(?:baton [a-z]+|openssl [a-z]+) [^;\"]*")
# Rooms whose messages the command line alone shows.
ONE_INTERFACE = {"cli", "tools", "shim"}

# Bounds of a page: the share of sentences above 25 and 28 words, and the longest sentence. A page
# with few sentences may have one long one.
LONG, MOST_LONG = 25, 0.06
LONGER, MOST_LONGER = 28, 0.04
LONGEST = 40
# Bounds over all pages.
MEDIAN, P90 = 13, 21


def pages():
    """The Markdown that users and contributors read."""
    folders = [ROOT / "docs", ROOT / "src", ROOT / "examples"]
    found = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return found + sorted(path for folder in folders for path in folder.rglob("*.md"))


def headers():
    return sorted(p for p in (ROOT / "include").rglob("*") if p.suffix in {".h", ".cuh"})


def message_sources():
    """Sources of the tool and the library; tests and the text of device headers are not messages."""
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in {".cc", ".h", ".inc"} and "testdata" not in path.parts \
                and not path.stem.endswith("_test") and "test" not in path.stem.split("_"):
            yield path


def sources():
    """What contributors read beside the public headers."""
    for folder in ("src", "tests", "bench", "examples", "python"):
        yield from sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in {".h", ".cc", ".cu", ".cuh"})


def without_code(text):
    """Markdown without its fenced blocks; lines keep their numbers."""
    return re.sub(r"^ *```.*?^ *```$", lambda m: "\n" * m[0].count("\n"), text,
                  flags=re.MULTILINE | re.DOTALL)


def plain(text):
    """Markdown's inline marks taken away: a piece of code is one word, a link is its text."""
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "").strip()


def blocks(text):
    """(line, lines) of each paragraph, list item, heading and table row of a page."""
    start, block = 0, []
    for number, line in enumerate([*without_code(text).splitlines(), ""], 1):
        opens = re.match(r"\s*(?:[-*] |\d+\. |#|\|)", line)
        if block and (opens or not line.strip()):
            yield start, block
            block = []
        if line.strip():
            start = start if block else number
            block.append(line.strip())


def is_prose(block):
    return not block[0].startswith(("#", "|"))


def page_texts(text):
    """(line, text) of paragraphs, list items and table cells. Headings may begin with "What"."""
    for line, block in blocks(text):
        if block[0].startswith("#"):
            continue
        joined = plain(re.sub(r"^(?:[-*]|\d+\.) ", "", " ".join(block)))
        for cell in re.split(r"(?<!\\)\|", joined) if joined.startswith("|") else [joined]:
            yield line, cell.strip()


TOKEN = re.compile(r'//(?P<comment>[^\n]*)|/\*.*?\*/|R"(?P<tag>\w*)\(.*?\)(?P=tag)"|'
                   r'"(?P<string>(?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)


def joined_tokens(source, kind):
    """(line, text) of comments, or of string literals, where only blanks are between them as one."""
    start, end, parts = 0, None, []
    for match in TOKEN.finditer(source):
        if match[kind] is None:
            continue
        if parts and source[end:match.start()].strip():
            yield source.count("\n", 0, start) + 1, parts
            parts = []
        start = start if parts else match.start()
        parts.append(match[kind])
        end = match.end()
    if parts:
        yield source.count("\n", 0, start) + 1, parts


def comment_texts(source):
    """(line, text) of each paragraph of each comment."""
    for line, parts in joined_tokens(source, "comment"):
        for paragraph in "\n".join(part.strip() for part in parts).split("\n\n"):
            yield line, plain(paragraph.replace("\n", " "))


def message_texts(source):
    """(line, text) of each string literal that has at least two words."""
    for line, parts in joined_tokens(source, "string"):
        text = "".join(parts)
        if " " in text.strip():
            yield line, text.strip()


IN_SOURCES = [phrase for phrase in PHRASES if not any(word in phrase.pattern for word in FRAGMENTS)]


def phrases_in(texts, phrases=PHRASES):
    """(line, what was found) of every phrase in (line, text) pairs."""
    for line, text in texts:
        for phrase in phrases:
            match = re.search(phrase.pattern, text)
            if match:
                yield line, f'"{match[0].strip()}" in "{text[:90]}"; plain: "{phrase.plain}"'


def own_names_in(texts):
    """(line, what was found) of every name that users of another interface do not know."""
    for line, text in texts:
        match = OWN_NAMES.search(WHOLE_CALL.sub("", text))
        if match:
            yield line, f'"{match[0]}" in "{text[:90]}" is a name of one interface; C, C++, Python and the ' \
                        "command line show the message"


def sentence_lengths(text):
    """The words of each sentence of a page's prose."""
    for _, block in blocks(text):
        if not is_prose(block):
            continue
        joined = plain(re.sub(r"^(?:[-*]|\d+\.) ", "", " ".join(block)))
        for sentence in re.split(r"(?<=[.?!])[)\"”]?\s+(?=[A-Z0-9(\"“−])", joined):
            yield len(re.findall(r"\S*\w\S*", sentence)), sentence


def too_long(lengths):
    """What breaks a bound of a page in its sentences' lengths."""
    for limit, most in ((LONG, MOST_LONG), (LONGER, MOST_LONGER)):
        over = sum(length > limit for length in lengths)
        if over > max(1, most * len(lengths)):
            yield f"{over} of {len(lengths)} sentences have more than {limit} words, at most {most:.0%} may"
    if max(lengths, default=0) > LONGEST:
        yield f"a sentence has {max(lengths)} words, at most {LONGEST} are allowed"


def p90(lengths):
    return sorted(lengths)[int(0.9 * (len(lengths) - 1))]


def anchors(text):
    """The anchors that a page's headings make."""
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", plain(heading.replace("`", "")).lower()).replace(" ", "-")


def broken_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        name, _, anchor = target.partition("#")
        if re.match(r"\w+:", name):
            continue
        path = page.parent / name if name else page
        if not path.exists():
            yield f"{target}: there is no such file"
        elif anchor and anchor not in anchors(path.read_text(encoding="utf-8")):
            yield f"{target}: the page has no such heading"


def read(path):
    return path.read_text(encoding="utf-8")


class Words(unittest.TestCase):
    def check(self, found):
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_pages_have_no_unclear_phrase(self):
        self.check([f"{p.relative_to(ROOT)}:{line}: {what}" for p in pages()
                    for line, what in phrases_in(page_texts(read(p)))])

    def test_public_headers_have_no_unclear_phrase(self):
        self.check([f"{p.relative_to(ROOT)}:{line}: {what}" for p in headers()
                    for line, what in phrases_in(comment_texts(read(p)))])

    def test_comments_of_sources_have_no_unclear_phrase(self):
        self.check([f"{p.relative_to(ROOT)}:{line}: {what}" for p in sources()
                    for line, what in phrases_in(comment_texts(read(p)), IN_SOURCES)])

    def test_messages_have_no_unclear_phrase(self):
        self.check([f"{p.relative_to(ROOT)}:{line}: {what}" for p in message_sources()
                    for line, what in phrases_in(message_texts(read(p)))])

    def test_messages_of_the_library_serve_every_interface(self):
        self.check([f"{p.relative_to(ROOT)}:{line}: {what}" for p in message_sources()
                    if p.relative_to(ROOT / "src").parts[0] not in ONE_INTERFACE
                    for line, what in own_names_in(message_texts(read(p)))])

    def test_sentences_of_pages_are_short(self):
        every, found = [], []
        for page in pages():
            lengths = [length for length, _ in sentence_lengths(read(page))]
            every += lengths
            found += [f"{page.relative_to(ROOT)}: {what}" for what in too_long(lengths)]
        self.check(found)
        self.assertLessEqual(statistics.median(every), MEDIAN)
        self.assertLessEqual(p90(every), P90)

    def test_links_between_pages_lead_somewhere(self):
        self.check([f"{p.relative_to(ROOT)}: {what}" for p in pages() for what in broken_links(p, read(p))])


class TheTestItself(unittest.TestCase):
    """Each check fails for a planted fault, and passes without it."""

    def test_each_phrase_is_found_and_its_plain_form_is_not(self):
        for phrase in PHRASES:
            self.assertIn(phrase.plain, " ".join(what for _, what in phrases_in([(1, phrase.bad)])))
            self.assertEqual(list(phrases_in([(1, phrase.plain)])), [])

    def test_a_phrase_is_found_across_lines_in_prose_and_cells_but_not_in_code(self):
        text = "# T\n\nA fine line.\nThe config is held\nagainst limits.\n\n| a | is no b |\n\n```\nheld against\n```\n`is no`\n"
        self.assertEqual([line for line, _ in phrases_in(page_texts(text))], [3, 7])

    def test_a_phrase_is_found_in_comments_and_messages_of_cplusplus(self):
        source = ('// Of two lines\n// one comment.\nint x;  // Fine.\n'
                  'throw error("the file is "\n            "no image");\nauto s = R"(is no)"; char c = \'"\';\n')
        self.assertEqual([line for line, _ in phrases_in(comment_texts(source))], [1])
        self.assertEqual([line for line, _ in phrases_in(message_texts(source))], [4])

    def test_a_name_of_one_interface_is_found(self):
        for text in ("give it an --input, or an init", "call Kernel::set_attribute again", "launched with pdl() here"):
            self.assertEqual(len(list(own_names_in([(1, text)]))), 1, text)
        for text in ("give it an input, or an init", "sign it: baton sign {} --key KEY.pem", "-1 is too small",
                     "the option pdl says off"):
            self.assertEqual(list(own_names_in([(1, text)])), [], text)

    def test_long_sentences_are_counted(self):
        short = "One two three. " * 30
        self.assertEqual(list(too_long([n for n, _ in sentence_lengths(short)])), [])
        long = "word " * LONGER + "ends here. "
        self.assertEqual(len(list(too_long([n for n, _ in sentence_lengths(short + 4 * long.capitalize())]))), 2)
        endless = ("word " * LONGEST + "ends. ").capitalize()
        self.assertEqual(len(list(too_long([n for n, _ in sentence_lengths(short + endless)]))), 1)

    def test_a_broken_link_is_found(self):
        page = ROOT / "README.md"
        text = "[a](docs/none.md) [b](docs/pdl.md#no-such) [c](docs/pdl.md#1-see-the-edges) [d](https://example.org)"
        self.assertEqual(len(list(broken_links(page, text))), 2)


def report():
    every = []
    print(f"{'page':<40}{'sentences':>10}{'median':>8}{'p90':>6}{'longest':>9}{'> 25':>7}{'> 28':>7}")
    for page in [*pages(), None]:
        lengths = every if page is None else [n for n, _ in sentence_lengths(read(page))]
        if not lengths:
            continue
        over = [sum(n > limit for n in lengths) / len(lengths) for limit in (LONG, LONGER)]
        name = "all" if page is None else str(page.relative_to(ROOT))
        print(f"{name:<40}{len(lengths):>10}{statistics.median(lengths):>8.0f}{p90(lengths):>6}"
              f"{max(lengths):>9}{over[0]:>7.0%}{over[1]:>7.0%}")
        every += [] if page is None else lengths


if __name__ == "__main__":
    sys.exit(report() if "--report" in sys.argv else unittest.main())
