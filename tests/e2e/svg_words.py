"""Words of a picture that lie on others."""

import re

TEXT = re.compile(r'<text([^>]*)>([^<]*)')
WIDTH, HEIGHT = 5, 9  # of a character, at least


def boxes(picture):
    for attributes, text in TEXT.findall(picture):
        found = dict(re.findall(r'(\S+)="([^"]*)"', attributes))
        width = WIDTH * len(text)
        left = float(found["x"]) - {"start": 0, "middle": width / 2, "end": width}[found.get("text-anchor", "start")]
        yield text, left, left + width, float(found["y"])


def overlaps(picture):
    """Pairs of texts that cover each other."""
    all_of = list(boxes(picture))
    assert all_of, "a picture without words"
    return [(one[0], other[0]) for k, one in enumerate(all_of) for other in all_of[k + 1:]
            if abs(one[3] - other[3]) < HEIGHT and one[1] < other[2] and other[1] < one[2]]
