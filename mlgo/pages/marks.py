"""Generated sections of Markdown pages, between `<!-- begin KIND: NAME -->` and `<!-- end KIND: NAME -->`."""

import re


def section_names(page: str, kind: str) -> list[str]:
    """Names of the sections of a kind that begin in `page`."""
    return re.findall(rf"<!-- begin {re.escape(kind)}: (\S+) -->", page)


def with_section(page: str, kind: str, name: str, content: str) -> str:
    """`page`, with `content` between the marks of `name`. Raises: ValueError: the page does not have each mark once."""
    begin, end = f"<!-- begin {kind}: {name} -->\n", f"<!-- end {kind}: {name} -->\n"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page must have each of {begin.strip()!r} and {end.strip()!r} once, in this order")
    before, after = page.split(begin)[0], page.split(end)[1]
    return f"{before}{begin}{content.strip()}\n{end}{after}"
