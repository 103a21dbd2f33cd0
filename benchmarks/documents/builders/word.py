"""Word documents of raw XML, written in a small language.

A line of `body` is a paragraph, lines like `| a | b |` are a table, a line that begins with `<` is XML as it
is. `# ` begins a heading, `- ` an item of a list. In a line, `[name:argument|text]` is one of `_INLINE` or
`_STYLED`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count, groupby
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.documents.builders.parts import REL, content_types, relationships, zipped

_URIS = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "r": REL,
    "v": "urn:schemas-microsoft-com:vml",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "w15": "http://schemas.microsoft.com/office/word/2012/wordml",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
}
_SPACES = " ".join(f'xmlns:{name}="{uri}"' for name, uri in _URIS.items())
_WHEN = 'w:date="2025-03-14T09:30:00Z"'
_FIELD = (
    '<w:r><w:fldChar w:fldCharType="begin">{}</w:fldChar></w:r><w:r><w:instrText>{}</w:instrText></w:r><w:r>'
    '<w:fldChar w:fldCharType="separate"/></w:r>{}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
_SDT = "<w:sdt><w:sdtPr>{}</w:sdtPr><w:sdtContent>{{run}}</w:sdtContent></w:sdt>"
_TRACKED = f'<w:{{0}} w:id="{{{{id}}}}" w:author="{{{{0}}}}" {_WHEN}>{{{{{{1}}}}}}</w:{{0}}>'
_STYLED = {
    "sup": '<w:vertAlign w:val="superscript"/>', "sub": '<w:vertAlign w:val="subscript"/>',
    "strike": "<w:strike/>", "nostrike": '<w:strike w:val="0"/>', "dstrike": "<w:dstrike/>",
    "hide": "<w:vanish/>", "style": '<w:rStyle w:val="{0}"/>', "hl": '<w:highlight w:val="{0}"/>',
    "color": '<w:color w:val="{0}"/>',
}  # fmt: skip
_INLINE = {
    "fn": '<w:r><w:footnoteReference w:id="{0}"/></w:r>',
    "en": '<w:r><w:endnoteReference w:id="{0}"/></w:r>',
    "c": '<w:commentRangeStart w:id="{0}"/>{run}<w:commentRangeEnd w:id="{0}"/>'
    '<w:r><w:commentReference w:id="{0}"/></w:r>',
    "check": _FIELD.format(
        '<w:ffData><w:checkBox><w:sizeAuto/><w:checked w:val="{0}"/></w:checkBox></w:ffData>',
        "FORMCHECKBOX", "",
    ),
    "checkdefault": _FIELD.format(
        '<w:ffData><w:checkBox><w:default w:val="1"/></w:checkBox></w:ffData>', "FORMCHECKBOX", ""
    ),
    "field": _FIELD.format(
        '<w:ffData><w:name w:val="{0}"/><w:textInput/></w:ffData>', "FORMTEXT", "{run}"
    ),
    "drop": _FIELD.format(
        '<w:ffData><w:ddList><w:result w:val="{0}"/>{entries}</w:ddList></w:ffData>', "FORMDROPDOWN", ""
    ),
    "code": _FIELD.format("", "{0}", "{run}"),
    "box": _SDT.format('<w14:checkbox><w14:checked w14:val="{0}"/></w14:checkbox>'),
    "sdt": _SDT.format('<w:alias w:val="{0}"/>'),
    "empty": _SDT.format('<w:alias w:val="{0}"/><w:showingPlcHdr/>'),
    "sym": '<w:r><w:sym w:font="Wingdings" w:char="{0}"/></w:r>',
    "link": '<w:hyperlink r:id="{0}">{run}</w:hyperlink>',
    "ins": _TRACKED.format("ins", "run"), "del": _TRACKED.format("del", "deleted"),
    "both": f'<w:ins w:id="5" w:author="{{0}}" {_WHEN}><w:del w:id="6" w:author="Ben" {_WHEN}>'
    "{deleted}</w:del></w:ins>",
    "cstart": '<w:commentRangeStart w:id="{0}"/>',
    "cend": '<w:commentRangeEnd w:id="{0}"/><w:r><w:commentReference w:id="{0}"/></w:r>',
    "to": _TRACKED.format("moveTo", "run"), "from": _TRACKED.format("moveFrom", "run"),
    "soft": "<w:r><w:softHyphen/></w:r>",
    "pict": '<w:r><w:drawing><wp:inline><wp:docPr id="7" name="Picture" descr="{0}"/><a:graphic>'
    "<a:graphicData><pic:pic/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>",
}  # fmt: skip
_CHARACTER_STYLES = "".join(
    f'<w:style w:type="character" w:styleId="{name}"><w:name w:val="{name}"/>'
    f"<w:rPr><w:{mark}/></w:rPr></w:style>"
    for name, mark in (("Secret", "vanish"), ("Gone", "strike"))
)
_NUMBERS = count(900)


def _run(text: str, properties: str = "", tag: str = "t") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:{tag} xml:space="preserve">{escape(text)}</w:{tag}></w:r>'


def _inline(name: str, argument: str, text: str) -> str:
    if name in _STYLED:
        return _run(text, _STYLED[name].format(argument))
    entries = "".join(f'<w:listEntry w:val="{each}"/>' for each in text.split(","))
    deleted = _run(text, tag="delText")
    return _INLINE[name].format(argument, run=_run(text), deleted=deleted, entries=entries, id=next(_NUMBERS))


def _paragraph(line: str, attributes: str = "") -> str:
    xml = ""
    for style, mark in (("Heading1", "# "), ("ListBullet", "- ")):
        if line.startswith(mark):
            line, xml = line[2:], f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>'
    for piece in re.split(r"(\[[a-z]+:[^\]]*\])", line):
        found = re.fullmatch(r"\[([a-z]+):([^|]*)\|?(.*)\]", piece)
        xml += _inline(found[1], found[2], found[3] or found[2]) if found else _run(piece) if piece else ""
    return f"<w:p{attributes}>{xml}</w:p>"


def _row(line: str) -> str:
    tracked = re.match(r"\[(ins|del):(\w+)\]", line)  # a row that was inserted or deleted
    mark = ""
    if tracked:
        line = line[tracked.end() :]
        mark = f'<w:trPr><w:{tracked[1]} w:id="{next(_NUMBERS)}" w:author="{tracked[2]}" {_WHEN}/></w:trPr>'
    cells = re.split(r"\|(?![^\[]*\])", line)[1:-1]
    return f"<w:tr>{mark}{''.join(f'<w:tc>{_paragraph(cell.strip())}</w:tc>' for cell in cells)}</w:tr>"


def _is_row(line: str) -> bool:
    return re.match(r"(\[\w+:\w+\])?\|", line) is not None


def _xml(body: str) -> str:
    xml = ""
    for in_table, lines in groupby(body.strip("\n").split("\n"), _is_row):
        if in_table:
            xml += f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(map(_row, lines))}</w:tbl>"
        else:
            xml += "".join(line if line.startswith("<") else _paragraph(line) for line in lines)
    return xml


def _notes(kind: str, notes: Sequence[Any]) -> str:
    items = ""
    for number, note in enumerate(notes, 1):
        who, text = note if isinstance(note, list) else ("Ana Novak", note)
        inside = _paragraph(text, f' w14:paraId="0000000{number}"')
        items += f'<w:{kind} w:id="{number}" w:author="{who}" {_WHEN}>{inside}</w:{kind}>'
    return items


def docx(
    body: str,
    *,
    footnotes: Sequence[str] = (),
    endnotes: Sequence[str] = (),
    comments: Sequence[Any] = (),
    header: str = "",
    parts: Mapping[str, str] = {},
    files: Mapping[str, bytes] = {},
    links: Mapping[str, Sequence[str]] = {},
) -> bytes:
    """A document.

    Args:
        body: In the language of this module.
        footnotes: Numbered from 1, as endnotes and comments are.
        endnotes: As footnotes.
        comments: Texts, or [author, text].
        header: The pages' header, in the language.
        parts: More parts, by name; SPACES in them declares all namespaces.
        files: Embedded files.
        links: Relationships of the document: id -> [type, target].
    """
    targets = {**links, "styles": ("styles", "styles.xml")}
    named = (("Heading1", "heading 1"), ("ListBullet", "List Bullet"))
    styles = (
        f'<w:style w:type="paragraph" w:styleId="{i}"><w:name w:val="{n}"/></w:style>' for i, n in named
    )
    roots = {"styles": ("styles", "".join(styles) + _CHARACTER_STYLES)}
    notes = {"footnotes": footnotes, "endnotes": endnotes, "comments": comments}
    roots |= {name: (name, _notes(name[:-1], given)) for name, given in notes.items() if given}
    roots |= {"header": ("hdr", _xml(header))} if header else {}
    section = '<w:headerReference w:type="default" r:id="header"/>' if header else ""
    roots["document"] = ("document", f"<w:body>{_xml(body)}<w:sectPr>{section}</w:sectPr></w:body>")
    targets |= {name: (name, f"{name}.xml") for name in roots if name != "document"}
    targets |= {f"file{at}": ("package", f"embeddings/{name}") for at, name in enumerate(files)}
    word = "openxmlformats-officedocument.wordprocessingml."
    types = {f"word/{name}.xml": f"{word}{name}{'.main' * (name == 'document')}+xml" for name in roots}
    return zipped({
        "[Content_Types].xml": content_types(types),
        "_rels/.rels": relationships({"r1": ("officeDocument", "word/document.xml")}),
        **{f"word/{name}.xml": f"<w:{tag} {_SPACES}>{xml}</w:{tag}>" for name, (tag, xml) in roots.items()},
        "word/_rels/document.xml.rels": relationships(targets),
        **{f"word/embeddings/{name}": data for name, data in files.items()},
        **{name: part.replace("SPACES", _SPACES) for name, part in parts.items()},
    })  # fmt: skip
