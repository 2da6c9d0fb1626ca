"""Two runs of a case side by side: a row for each field and run."""

import collections
import math

from . import results

COLUMNS = ("field", "run", "solver", "solves", "iterations", "first", "last", "unconverged", "seconds", "difference")


def field_names(run):
    """The fields a run solved for, in the order of their first solve, as region/field."""
    return list(dict.fromkeys(solve.name() for solve in run.solves))


def known_as(name, region, table):
    """The value of a field in {field or region/field: value}; that of the vector for a component; None where there is none."""
    for field in (name, results.base_name(name)):
        for key in (f"{region}/{field}" if region else field, field):
            if key in table:
                return table[key]
    return None


def field_row(run, label, name, differences):
    """One row of the table. name: region/field."""
    solves = [solve for solve in run.solves if solve.name() == name]
    region, _, field = name.rpartition("/")
    seconds = known_as(field, region, run.seconds)
    difference = known_as(field, region, differences)
    return {"field": name, "run": label,
            "solver": "/".join(dict.fromkeys(solve.solver for solve in solves)), "solves": len(solves),
            "iterations": sum(solve.iterations for solve in solves),
            "first": solves[-1].initial if solves else math.nan, "last": solves[-1].final if solves else math.nan,
            "unconverged": sum(not solve.converged for solve in solves),
            "seconds": math.nan if seconds is None else seconds,
            "difference": math.nan if difference is None else difference}


def compare_rows(reference, run, differences, labels):
    """The rows of two runs; differences: those of run's fields from reference's."""
    names = list(dict.fromkeys(field_names(reference) + field_names(run)))
    return [field_row(one, label, name, found) for name in names
            for one, label, found in ((reference, labels[0], {}), (run, labels[1], differences))]


def more_unconverged(run, own):
    """{region/field: (unconverged solves, own's)} of the fields of which a run has more than the run with own solvers."""
    ours, theirs = (collections.Counter(solve.name() for solve in one.solves if not solve.converged) for one in (run, own))
    return {name: (count, theirs[name]) for name, count in ours.items() if count > theirs[name]}


def shown(value, column):
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        # A number of digits fits only what is known to be of one size.
        return f"{value:.3f}" if "seconds" in column else f"{value:.1f}" if "its" in column else f"{value:.1e}"
    return str(value)


def table(rows, columns=COLUMNS):
    """Rows as text, in columns; numbers to the right."""
    cells = [[shown(row.get(column, ""), column) for column in columns] for row in rows]
    widths = [max([len(column), *(len(line[i]) for line in cells)]) for i, column in enumerate(columns)]
    right = [all(not isinstance(row.get(column, 0), str) for row in rows) for column in columns]
    def line(words):
        return "  ".join(word.rjust(width) if flag else word.ljust(width)
                         for word, width, flag in zip(words, widths, right)).rstrip()
    return "\n".join([line(columns), *map(line, cells)])


def summed_seconds(seconds, pressure):
    """(seconds of the pressure's solves, of all solves)."""
    own = sum(value for key, value in seconds.items() if key.rpartition("/")[2] in pressure)
    return own, sum(seconds.values())
