/* A system of tridiagonal rows for wrong_inputs.c, over hypre's IJ interface, and its residual computed without hypre.
 */
#ifndef WRONG_SYSTEM_H
#define WRONG_SYSTEM_H
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most = 40 };

static int rank, ranks;

/* The rows that a rank has: those from first on. */
typedef struct {
  HYPRE_BigInt all, first, last;
} Share;

typedef struct {
  Share rows, columns;
  double below, diagonal, above;
  int oddRow; /* its diagonal is odd; -1: none */
  double odd;
  HYPRE_IJMatrix matrix;
  HYPRE_ParCSRMatrix parallel;
} System;

/* all rows, of which one rank has none where that is asked for (more than one rank). */
static Share shareOf(int all, int emptyRank) {
  Share share = {all, 0, -1};
  if (ranks == 1) {
    share.last = all - 1;
  } else {
    const int with = emptyRank >= 0 ? ranks - 1 : ranks, at = emptyRank >= 0 && rank > emptyRank ? rank - 1 : rank;
    share.first = (HYPRE_BigInt)all * at / with;
    share.last = rank == emptyRank ? share.first - 1 : (HYPRE_BigInt)all * (at + 1) / with - 1;
  }
  return share;
}

static double entryOf(const System* s, int row, int column) {
  if (column == row) return row == s->oddRow ? s->odd : s->diagonal;
  return column < row ? s->below : s->above;
}

static void setRows(System* s) {
  for (HYPRE_BigInt row = s->rows.first; row <= s->rows.last; ++row) {
    HYPRE_BigInt columns[3];
    double values[3];
    HYPRE_Int count = 0;
    for (HYPRE_BigInt column = row - 1; column <= row + 1; ++column) {
      if (column < 0 || column >= s->columns.all) continue;
      columns[count] = column;
      values[count++] = entryOf(s, (int)row, (int)column);
    }
    HYPRE_IJMatrixSetValues(s->matrix, 1, &count, &row, columns, values);
  }
  HYPRE_IJMatrixAssemble(s->matrix);
}

static void makeMatrix(System* s) {
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, s->rows.first, s->rows.last, s->columns.first, s->columns.last, &s->matrix);
  HYPRE_IJMatrixSetObjectType(s->matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(s->matrix);
  setRows(s);
  HYPRE_IJMatrixGetObject(s->matrix, (void**)&s->parallel);
}

static HYPRE_IJVector makeVector(Share share, int initialized) {
  HYPRE_IJVector vector;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, share.first, share.last, &vector);
  HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
  if (!initialized) return vector;
  HYPRE_IJVectorInitialize(vector);
  for (HYPRE_BigInt row = share.first; row <= share.last; ++row) {
    const double zero = 0;
    HYPRE_IJVectorSetValues(vector, 1, &row, &zero);
  }
  HYPRE_IJVectorAssemble(vector);
  return vector;
}

static HYPRE_ParVector parallelOf(HYPRE_IJVector vector) {
  void* object = NULL;
  HYPRE_IJVectorGetObject(vector, &object);
  return (HYPRE_ParVector)object;
}

static void setEntry(HYPRE_IJVector vector, Share share, HYPRE_BigInt row, double value) {
  if (row >= share.first && row <= share.last) HYPRE_IJVectorSetValues(vector, 1, &row, &value);
}

/* All entries, on all ranks. */
static void gather(HYPRE_IJVector vector, Share share, double* all) {
  double mine[most] = {0};
  for (HYPRE_BigInt row = share.first; row <= share.last; ++row) HYPRE_IJVectorGetValues(vector, 1, &row, &mine[row]);
  MPI_Allreduce(mine, all, most, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int isFinite(const double* values, int count) {
  for (int i = 0; i < count; ++i) {
    if (!isfinite(values[i])) return 0;
  }
  return 1;
}

/* b - A x of a square system. */
static void residualOf(const System* s, const double* b, const double* x, double* r) {
  for (int row = 0; row < (int)s->rows.all; ++row) {
    r[row] = b[row];
    for (int column = row - 1; column <= row + 1; ++column) {
      if (column >= 0 && column < (int)s->rows.all) r[row] -= entryOf(s, row, column) * x[column];
    }
  }
}

static double norm(const double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i] * values[i];
  return sqrt(sum);
}
#endif
