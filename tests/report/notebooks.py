"""What every view in a notebook must be, whatever is in it."""

from __future__ import annotations

import re

from lxml import etree, html

HOSTILE = "<script>alert(1)</script></style><img src=x onerror=alert(2)>\u202e\"'&{{ 7*7 }}"
SHOWN = HOSTILE.replace("\u202e", "�")
LARGEST = 60_000


def checked(view: str) -> etree._Element:
    """The view's elements: it is whole, small, has nothing that runs or loads, and its style is for itself."""
    assert len(view.encode()) <= LARGEST
    root = etree.fromstring(view)  # whole even as XML, which forgives nothing
    assert html.fromstring(view).text_content() == "".join(root.itertext())  # and the same for a browser
    assert root.get("class") == "surefoot"
    allowed = {
        "div", "style", "p", "bdi", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tr", "th", "td",
        "details", "summary", "ul", "li",
    }  # fmt: skip
    assert {element.tag for element in root.iter()} <= allowed
    assert {name for element in root.iter() for name in element.attrib} <= {"class", "scope", "data-tone", "data-look"}
    (style,) = root.findall("style")
    assert not re.search(r"url|import|expression", style.text)
    rules = re.sub(r"@media[^{]*\{", "", style.text)
    assert all(one.strip().startswith(".surefoot.surefoot") for one in re.findall(r"([^{}]+)\{", rules))
    lengths = {len(row) for row in root.iter("tr")}
    assert len(lengths) <= 1
    assert root.findtext("p[@class='headline']/bdi")
    return root


def told(view: str) -> str:
    """The view's words, those of its style left out."""
    root = checked(view)
    root.find("style").text = ""
    return " ".join("".join(element.itertext()) for element in root.iter("bdi", "summary"))
