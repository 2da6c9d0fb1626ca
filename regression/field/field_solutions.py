"""What is asked of the solutions of a case from the field, which capstan-solve has written beside its deck.

A check is given the folder and Capstan's solves, and returns problems.
"""

import gzip
import math

import field_rules


def read_text(path):
    with gzip.open(path, "rt", encoding="utf-8") if path.name.endswith(".gz") else open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.strip() and not line.startswith("%")]
    return lines[0].split(), lines[1:]


def read_vector(path):
    """A dense vector in Matrix Market form, the first column of it."""
    size, lines = read_text(path)
    return [float(line) for line in lines[:int(size[0])]]


def read_matrix(path):
    """Rows of a matrix in Matrix Market form, as dictionaries; of a symmetric one the stored half alone."""
    size, lines = read_text(path)
    rows = [{} for _ in range(int(size[0]))]
    for line in lines:
        i, j, value = line.split()[:3]
        rows[int(i) - 1][int(j) - 1] = float(value)
    return rows


def norms(path):
    """2-norms of the columns of a dense matrix in Matrix Market form, stored column by column."""
    size, lines = read_text(path)
    rows, columns = int(size[0]), int(size[1])
    return [norm([float(line) for line in lines[column * rows:(column + 1) * rows]]) for column in range(columns)]


def solution(folder, solve):
    return read_vector(folder / f"{solve['system']}_{solve['solver']}_0_x.mtx")


def norm(values):
    return math.sqrt(sum(value * value for value in values))


def title(solve):
    return f"{solve['system']}, {solve['solver']}"


def bounded(folder, solves):
    """Every x is finite, and none is much larger than those of solves that converged."""
    norms = {title(solve): norm(solution(folder, solve)) for solve in solves}
    largest = max((norms[title(solve)] for solve in solves if solve["converged"]), default=math.inf)
    return [f"{name}: |x| = {size:.2e}, solutions {largest:.2e}" for name, size in norms.items() if not size <= 100 * largest]


def finite(folder, solves):
    return [f"{title(solve)}: x is not finite" for solve in solves if not all(map(math.isfinite, solution(folder, solve)))]


def right_inside(folder, solves):
    """With rows of 1e30 on the boundary, x is right in the others, though no residual tells."""
    expected, diagonal = read_vector(folder / "x_penalty.mtx.gz"), read_matrix(folder / "A_penalty.mtx.gz")
    inside = [i for i, row in enumerate(diagonal) if row.get(i, 0) < 1e29]
    scale = norm([expected[i] for i in inside])
    problems = finite(folder, solves)
    for solve in solves:
        wanted = solve["system"] == "A_penalty" and solve["preconditioner"] == "jacobi" and solve["method"].endswith("cg")
        if wanted:
            x = solution(folder, solve)
            error = norm([x[i] - expected[i] for i in inside]) / scale
            if not error <= 1e-6:
                problems.append(f"{title(solve)}: error inside {error:.2e}")
    return problems


def keeps_holes(folder, solves):
    """Rows of the identity keep their value exactly."""
    b, rows = read_vector(folder / "b.mtx.gz"), read_matrix(folder / "A.mtx.gz")
    holes = [i for i, row in enumerate(rows) if row == {i: 1.0}]
    problems = [] if holes else ["no rows of the identity"]
    for solve in solves:
        x = solution(folder, solve)
        changed = sum(x[i] != b[i] for i in holes)
        if solve["converged"] and changed:
            worst = max(abs(x[i] - b[i]) for i in holes)
            problems.append(f"{title(solve)}: {changed} of {len(holes)} rows of the identity have another value, by {worst:.1e} at most")
    return problems


def first_stays(folder, solves):
    """What the last iteration alone would find of the first right-hand side stays the guess."""
    return [f"{title(solve)}: the first column of x has changed" for solve in solves if any(solution(folder, solve))]


# By case and changes of its deck.
CHECKS = {("G01", ()): bounded, ("G10", ()): bounded, ("G12", ()): finite, ("G14", ()): finite, ("G16", ()): finite,
          ("G16", field_rules.LEFT): right_inside, ("G20", ()): keeps_holes, ("R01", ()): finite, ("R05", ()): finite,
          ("R10", ()): bounded, ("G22", ("max_iterations=13",)): first_stays,
          ("G22", ("max_iterations=13", *field_rules.TOGETHER)): first_stays, ("G16", ("parameters.Residual Scaling=Norm of RHS",)): finite}
