"""YAML as plain strings, lists and dicts, with the line of every node, so that a refusal can say where.

Only the safe loader's parser is used and no tag is ever acted on: every scalar stays the text that a person
wrote (`yes`, `1.10` and `2024-01-01` too) and becomes what a schema asks for only when it is validated.
"""

from collections.abc import Sequence

import yaml

Location = tuple[str | int, ...]
"""Keys and indices from the top of the document down to a node, as pydantic gives them."""

_CORE_TAG = "tag:yaml.org,2002:"
_NULL_TAG = _CORE_TAG + "null"


class MarkedYamlError(ValueError):
    """Text that cannot be read as YAML, or YAML that needs more than plain values: a line from 1, and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason


class MarkedYaml:
    """One parsed document: `data` (None if it is empty), and the line on which each part of it stands."""

    def __init__(self, text: str) -> None:
        """Parse `text`. Raises MarkedYamlError."""
        self._lines: dict[Location, int] = {}
        self._collections: set[int] = set()
        root = _compose(text)
        self.data = None if root is None else self._plain(root, ())

    def line(self, location: Sequence[str | int]) -> int:
        """The line of `location`, or of the nearest part above it that is in the document; counted from 1."""
        for end in range(len(location), -1, -1):
            if (line := self._lines.get(tuple(location[:end]))) is not None:
                return line
        return 1

    def _plain(self, node: yaml.Node, at: Location) -> object:
        line = _line(node)
        self._lines.setdefault(at, line)
        if node.tag.startswith("!") or node.tag.startswith(_CORE_TAG + "python"):
            raise MarkedYamlError(line, f"the tag {node.tag!r} is not supported; write plain values")
        if isinstance(node, yaml.ScalarNode):
            return None if node.tag == _NULL_TAG else str(node.value)
        # An alias gives the same node again: followed, a few nested ones become billions of values.
        if id(node) in self._collections:
            raise MarkedYamlError(line, "a list or mapping is used again through an alias (*); write it out")
        self._collections.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, (*at, index)) for index, item in enumerate(node.value)]
        return self._mapping(node, at)

    def _mapping(self, node: yaml.Node, at: Location) -> dict[str, object]:
        plain: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise MarkedYamlError(_line(key), "a key must be plain text")
            name = str(key.value)
            if name in plain:
                raise MarkedYamlError(_line(key), f"the key {name!r} appears twice")
            self._lines[(*at, name)] = _line(key)
            plain[name] = self._plain(value, (*at, name))
        return plain


def _compose(text: str) -> yaml.Node | None:
    """The document's node tree, with whatever the parser can raise turned into a MarkedYamlError."""
    loader: yaml.SafeLoader | None = None
    try:
        loader = yaml.SafeLoader(text)
        return loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise MarkedYamlError(line, f"the character {chr(error.character)!r} is not allowed") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        raise MarkedYamlError(mark.line + 1 if mark else 1, "not YAML: " + ", ".join(parts)) from error
    except RecursionError as error:
        raise MarkedYamlError(_position(loader), "the nesting is too deep") from error
    except (ValueError, OverflowError) as error:  # the parser's int() and chr(), on absurd escapes
        raise MarkedYamlError(_position(loader), f"not YAML: {error}") from error


def _position(loader: yaml.SafeLoader | None) -> int:
    """How far the parser had come when it gave up."""
    return 1 if loader is None else int(loader.line) + 1


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
