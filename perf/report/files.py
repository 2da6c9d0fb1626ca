"""Files of results: JSON that people can read and repositories can hold."""

import csv
import io
import json


def dump(value, indent=""):
    """JSON in which a list or an object stands on one line where it holds no other."""
    if isinstance(value, dict):
        parts = [f"{json.dumps(str(key))}: " for key in value]
        held, (left, right) = list(value.values()), "{}"
    elif isinstance(value, (list, tuple)):
        parts = [""] * len(value)
        held, (left, right) = list(value), "[]"
    else:
        return json.dumps(value)
    if not any(isinstance(one, (dict, list, tuple)) and one for one in held):
        return left + ", ".join(part + json.dumps(one) for part, one in zip(parts, held)) + right
    inner = indent + " "
    lines = [inner + part + dump(one, inner) for part, one in zip(parts, held)]
    return left + "\n" + ",\n".join(lines) + "\n" + indent + right


def write(path, text):
    """Under another name first, so that nobody sees half of it."""
    draft = path.with_name(path.name + ".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def write_json(path, value):
    write(path, dump(value) + "\n")


def csv_text(rows, digits=6):
    """Rows, dictionaries with the same keys, as CSV; numbers with so many digits, None as nothing."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: f"{value:.{digits}g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)
    return text.getvalue()
