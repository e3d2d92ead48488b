"""Writes the event types of filing_webhooks from the JSON Schemas of the repository (schemas/events).

python3 generate.py          writes them
python3 generate.py --check  ends with exit code 1 where they are not up to date
"""

from __future__ import annotations

import json
import os.path
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parent.parent / "schemas" / "events"
TARGET = HERE / "filing_webhooks" / "__init__.py"
BEGIN = "# --- Event types: written by generate.py ---\n"
END = "# --- End of the event types ---\n"

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


class Types:
    """The classes made so far, in the order in which they have to stand."""

    def __init__(self) -> None:
        self.source: dict[str, str] = {}

    def add(self, name: str, schema: dict[str, Any], note: str) -> str:
        """Adds the class of an object, and those of its fields; the same name stands for the same fields."""
        required = set(schema.get("required", ()))
        always: list[str] = []
        perhaps: list[str] = []
        for field, content in schema["properties"].items():
            lines = always if field in required else perhaps
            lines += [f"    # {line}" for line in textwrap.wrap(content.get("description", ""), 104)]
            lines.append(f"    {field}: {self.annotation(field, content)}")
        base = name if not perhaps else f"_{name}" if always else "TypedDict"
        source = ""
        if always:
            source += class_source(base, "TypedDict", "" if perhaps else note, always)
        if perhaps:
            source += class_source(name, f"{base}, total=False", note, perhaps)
        if self.source.setdefault(name, source) != source:
            raise SystemExit(f"{name}: the schemas have two objects of this name with different fields")
        return name

    def annotation(self, field: str, schema: dict[str, Any]) -> str:
        if "const" in schema:
            return f"Literal[{json.dumps(schema['const'])}]"
        if "enum" in schema:
            return f"Literal[{', '.join(map(json.dumps, schema['enum']))}]"
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        found = [self.one_of(kind, field, schema) for kind in kinds if kind != "null"]
        if not found:
            return "Any"
        text = found[0] if len(found) == 1 else f"Union[{', '.join(found)}]"
        return f"Optional[{text}]" if "null" in kinds else text

    def one_of(self, kind: str, field: str, schema: dict[str, Any]) -> str:
        if kind == "array":
            return f"list[{self.annotation(field, schema.get('items', {}))}]"
        if kind == "object":
            if "properties" not in schema:
                return "dict[str, Any]"
            return self.add(field[0].upper() + field[1:], schema, schema.get("description", ""))
        return SCALARS[kind]


def class_source(name: str, bases: str, note: str, fields: list[str]) -> str:
    doc = [f'    """{note}"""', ""] if note else []
    wrapped = textwrap.wrap(note, 104)
    if len(wrapped) > 1:
        doc = [f'    """{wrapped[0]}', *(f"    {line}" for line in wrapped[1:]), '    """', ""]
    return "\n".join(["", "", f"class {name}({bases}):", *doc, *fields, ""])


def data_names(schemas: list[dict[str, Any]]) -> dict[str, str]:
    """The name of `data` of each event: the same where the fields are; then it is what the titles begin with."""
    groups: dict[str, list[str]] = {}
    for schema in schemas:
        fields = json.dumps(schema["properties"]["data"], sort_keys=True)
        groups.setdefault(fields, []).append(schema["title"])
    names = {}
    for titles in groups.values():
        name = os.path.commonprefix(titles) if len(titles) > 1 else titles[0][: -len("Event")]
        names.update(dict.fromkeys(titles, f"{name}Data"))
    return names


def generate() -> str:
    schemas = [json.loads(path.read_text("utf-8")) for path in sorted(SCHEMAS.glob("*.json"))]
    names = data_names(schemas)
    types = Types()
    events: list[tuple[str, str]] = []
    for schema in schemas:
        title, fields = schema["title"], dict(schema["properties"])
        types.add(names[title], fields["data"], "")
        # The class of `data` is there by now; the event names it.
        event = {**schema, "properties": {**fields, "data": {}}}
        types.add(title, event, schema["description"])
        types.source[title] = types.source[title].replace("    data: Any\n", f"    data: {names[title]}\n")
        events.append((fields["type"]["const"], title))
    known = "".join(f'    "{name}",\n' for name, _ in events)
    union = "".join(f"    {title},\n" for _, title in events)
    return (
        "".join(types.source.values())
        + "\n\n# Every event of this version. Later versions send others, too: acknowledge what you do not know.\n"
        + f"Event = Union[\n{union}]\n\nEVENT_TYPES = (\n{known})\n"
    )


def main() -> None:
    text = TARGET.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    fresh = f"{before}{BEGIN}{generate()}\n{END}{after}"
    if "--check" in sys.argv[1:]:
        if fresh != text:
            raise SystemExit(
                "filing_webhooks has other event types than schemas/events: run python3 generate.py"
            )
        return
    TARGET.write_text(fresh, "utf-8")


if __name__ == "__main__":
    main()
