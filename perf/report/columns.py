"""Text in columns, and what stands in more than one table."""


def aligned(head, rows):
    """Lines of a table; the first column stands on the left, the others on the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = []
    for row in [head, ["-" * width for width in widths], *rows]:
        cells = [cell.ljust(width) if column == 0 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return lines


def applications(counts):
    """The first solve's and the mean of the later ones: "12/11.3"; "-" where they are not known or none are made."""
    if not counts or not counts["first"] or counts["later"] is None:
        return "-"
    later = f"{counts['later']:.2f}".rstrip("0").rstrip(".")
    return f"{counts['first']}/{later}"
