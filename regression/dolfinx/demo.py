#!/usr/bin/env python3
"""Three problems in dolfinx 0.5, with PETSc's KSP as the options say: it names no solver of anybody's.

usage: demo.py FOLDER [N]

 poisson_     -div(k grad u) = 1 on a square of N x N x 2 triangles, k from 1 to 100
 stokes_      a channel with a bend of its walls' speed: P2-P1, as a MATNEST, with a block preconditioner
 velocity_, pressure_, correction_
              a lid-driven cavity at Re = 100, ten steps by projection; the pressure is known but for a constant

Each rank writes its points and values of the solutions to FOLDER/<field>.<rank>.npy: dolfinx numbers the points of a run
in its own way. Rank 0 prints a line for each prefix:
prefix, solves, iterations, solves that did not converge, seconds of the solves. What is set up for an operator is not in them.
"""

import pathlib
import sys

import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

COMM = MPI.COMM_WORLD


class Solver:
    """A KSP that counts."""

    def __init__(self, prefix, a, p=None, prepare=None):
        self.prefix, self.solves, self.iterations, self.failed, self.seconds = prefix, 0, 0, 0, 0.0
        self.ksp = PETSc.KSP().create(COMM)
        self.ksp.setOptionsPrefix(prefix)
        self.ksp.setOperators(a, a if p is None else p)
        if prepare is not None:
            prepare(self.ksp)
        self.ksp.setFromOptions()

    def solve(self, b, x):
        self.ksp.setUp()
        self.ksp.setUpOnBlocks()
        COMM.barrier()
        begun = MPI.Wtime()
        self.ksp.solve(b, x)
        COMM.barrier()
        self.seconds += MPI.Wtime() - begun
        self.solves += 1
        self.iterations += self.ksp.getIterationNumber()
        self.failed += self.ksp.getConvergedReason() <= 0

    def tell(self):
        if COMM.rank == 0:
            print(self.prefix, self.solves, self.iterations, self.failed, self.seconds, flush=True)


def save(folder, name, space, entries):
    points = space.dofmap.index_map.size_local
    values = entries[:points * space.dofmap.index_map_bs].reshape(points, -1)
    np.save(folder / f"{name}.{COMM.rank}.npy", np.hstack((space.tabulate_dof_coordinates()[:points, :2], values)))


def on_boundary(space, where, value, domain):
    facets = mesh.locate_entities_boundary(domain, domain.topology.dim - 1, where)
    dofs = fem.locate_dofs_topological(space, domain.topology.dim - 1, facets)
    function = fem.Function(space)
    function.interpolate(value)
    return fem.dirichletbc(function, dofs)


def assembled(form, bilinear, conditions, vector=None):
    """The right-hand side with the conditions in it."""
    b = petsc.assemble_vector(form) if vector is None else petsc.assemble_vector(vector, form)
    petsc.apply_lifting(b, [bilinear], [conditions])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    petsc.set_bc(b, conditions)
    return b


def everywhere(x):
    return np.full(x.shape[1], True)


def poisson(folder, n):
    domain = mesh.create_unit_square(COMM, n, n)
    space = fem.FunctionSpace(domain, ("CG", 1))
    u, v, x = ufl.TrialFunction(space), ufl.TestFunction(space), ufl.SpatialCoordinate(domain)
    k = ufl.conditional(ufl.lt((x[0] - 0.5)**2 + (x[1] - 0.4)**2, 0.06), 100.0, 1.0 + x[0])
    a = fem.form(k * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
    conditions = [on_boundary(space, everywhere, lambda x: 0 * x[0], domain)]
    matrix = petsc.assemble_matrix(a, bcs=conditions)
    matrix.assemble()
    matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    b = assembled(fem.form(fem.Constant(domain, 1.0) * v * ufl.dx), a, conditions)
    solution = matrix.createVecRight()
    solver = Solver("poisson_", matrix)
    solver.solve(b, solution)
    solver.tell()
    save(folder, "poisson", space, solution.getArray(readonly=True))


def copied(nested, plain):
    """The entries of a nested vector, one block of a rank after the other."""
    plain.setArray(np.concatenate([part.getArray(readonly=True) for part in nested.getNestSubVecs()]))
    return plain


def stokes(folder, n):
    domain = mesh.create_rectangle(COMM, [[0.0, 0.0], [2.0, 1.0]], [2 * n, n])
    velocities = fem.VectorFunctionSpace(domain, ("CG", 2))
    pressures = fem.FunctionSpace(domain, ("CG", 1))
    u, p = ufl.TrialFunction(velocities), ufl.TrialFunction(pressures)
    v, q = ufl.TestFunction(velocities), ufl.TestFunction(pressures)
    a = fem.form([[ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, -p * ufl.div(v) * ufl.dx],
                  [-q * ufl.div(u) * ufl.dx, None]])
    mass = fem.form([[a[0][0], None], [None, p * q * ufl.dx]])
    zero = fem.Constant(domain, PETSc.ScalarType((0, 0)))
    right = fem.form([ufl.inner(zero, v) * ufl.dx, ufl.inner(fem.Constant(domain, 0.0), q) * ufl.dx])
    conditions = [on_boundary(velocities, lambda x: np.isclose(x[1], 0) | np.isclose(x[1], 1),
                              lambda x: np.vstack((0.3 * np.sin(np.pi * x[0])**2 * x[1], 0 * x[0])), domain),
                  on_boundary(velocities, lambda x: np.isclose(x[0], 0),
                              lambda x: np.vstack((4 * x[1] * (1 - x[1]), 0 * x[0])), domain)]
    matrix = petsc.assemble_matrix_nest(a, bcs=conditions)
    matrix.assemble()
    other = petsc.assemble_matrix_nest(mass, bcs=conditions)
    other.assemble()
    b = petsc.assemble_vector_nest(right)
    petsc.apply_lifting_nest(b, a, bcs=conditions)
    for part in b.getNestSubVecs():
        part.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    petsc.set_bc_nest(b, fem.bcs_by_block(fem.extract_function_spaces(right), conditions))
    blocks = matrix.getNestISs()[0]

    def prepare(ksp):
        ksp.getPC().setType("fieldsplit")
        ksp.getPC().setFieldSplitIS(("u", blocks[0]), ("p", blocks[1]))

    solver = Solver("stokes_", matrix, other, prepare)
    solution, plain = matrix.createVecs()
    solver.solve(copied(b, plain), solution)
    solver.tell()
    entries = solution.getArray(readonly=True)
    save(folder, "stokes_velocity", velocities, entries)
    save(folder, "stokes_pressure", pressures, entries[matrix.getNestSubMatrix(0, 0).getLocalSize()[0]:])


def cavity(folder, n, steps=10, dt=0.05, viscosity=0.01):
    domain = mesh.create_unit_square(COMM, n, n)
    velocities = fem.VectorFunctionSpace(domain, ("CG", 2))
    pressures = fem.FunctionSpace(domain, ("CG", 1))
    u, p = ufl.TrialFunction(velocities), ufl.TrialFunction(pressures)
    v, q = ufl.TestFunction(velocities), ufl.TestFunction(pressures)
    before, between, pressure = fem.Function(velocities), fem.Function(velocities), fem.Function(pressures)
    walls = [on_boundary(velocities, everywhere, lambda x: np.vstack((np.isclose(x[1], 1) * 1.0, 0 * x[0])), domain)]
    a1 = fem.form((ufl.inner(u, v) / dt + ufl.inner(ufl.dot(before, ufl.nabla_grad(u)), v) +
                   viscosity * ufl.inner(ufl.grad(u), ufl.grad(v))) * ufl.dx)
    l1 = fem.form(ufl.inner(before, v) / dt * ufl.dx)
    a2 = fem.form(ufl.inner(ufl.grad(p), ufl.grad(q)) * ufl.dx)
    l2 = fem.form(-ufl.div(between) / dt * q * ufl.dx)
    a3 = fem.form(ufl.inner(u, v) * ufl.dx)
    l3 = fem.form((ufl.inner(between, v) - dt * ufl.inner(ufl.grad(pressure), v)) * ufl.dx)
    first = petsc.create_matrix(a1)
    second, third = petsc.assemble_matrix(a2), petsc.assemble_matrix(a3, bcs=walls)
    constant = PETSc.NullSpace().create(constant=True, comm=COMM)
    for matrix in (second, third):
        matrix.assemble()
        matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    second.setNullSpace(constant)
    second.setTransposeNullSpace(constant)
    solvers = [Solver("velocity_", first), Solver("pressure_", second), Solver("correction_", third)]
    for _ in range(steps):
        first.zeroEntries()
        petsc.assemble_matrix(first, a1, bcs=walls)
        first.assemble()
        for solver, form, bilinear, conditions, function in (
                (solvers[0], l1, a1, walls, between), (solvers[1], l2, a2, [], pressure), (solvers[2], l3, a3, walls, before)):
            solver.solve(assembled(form, bilinear, conditions), function.vector)
            function.x.scatter_forward()
        constant.remove(pressure.vector)
    for solver in solvers:
        solver.tell()
    save(folder, "velocity", velocities, before.x.array)
    save(folder, "pressure", pressures, pressure.x.array)


def main():
    folder, n = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 32
    poisson(folder, 2 * n)
    stokes(folder, n // 2)
    cavity(folder, n // 2)


if __name__ == "__main__":
    main()
