#pragma once
/// \file
/// Model problems, row by row, without any linear algebra library: each rank asks for its own rows.

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace capstan::deck {

/// What a deck says under `generate:`; which members matter depends on `problem`.
struct GeneratorOptions {
  std::string problem;             ///< one of generatorNames()
  std::vector<int> cells;          ///< unknowns in each direction (x first), dg_laplace2d: elements
  double epsilon = 0.01;           ///< anisotropic2d: the weak direction's coefficient
  double angle = 0.0;              ///< anisotropic2d: degrees by which the strong direction is turned from x
  std::vector<double> velocity;    ///< convection_diffusion: one component a direction
  double diffusion = 1.0;          ///< convection_diffusion: coefficient of the Laplacian
  bool upwind = true;              ///< convection_diffusion: first-order upwind, else central differences
  std::vector<double> stretching;  ///< stretched_poisson3d: ratio of neighbouring cell sizes in each direction
  bool pinned = true;              ///< stretched_poisson3d: fix the level in one cell; else the matrix is singular
  std::vector<double> values;      ///< diagonal: the entries
  std::string mesh = "square";     ///< dg_laplace2d: or star; cells then count along each side of its five rhombi
  std::string numbering = "rows";  ///< dg_laplace2d: of the elements, see DgNumbering
  int degree = 3;                  ///< dg_laplace2d: of the polynomials, 1 to 7
  double penalty = 0.0;            ///< dg_laplace2d: of jumps between elements; 0: (degree + 1)^2
};

/// One row of a sparse matrix.
struct MatrixRow {
  std::vector<long long> columns;
  std::vector<double> values;
  void add(long long column, double value);
};

/// A matrix given by its rows. `row(i, out)` fills `out` (cleared first) and may be called for any 0 <= i < rows.
struct GeneratedMatrix {
  long long rows = 0;
  int entriesInRow = 0;  ///< an upper bound
  std::function<void(long long, MatrixRow&)> row;
};

struct GeneratorName {
  std::string name;
  int dimensions;    ///< number of directions; 0: none (diagonal)
  int entriesInRow;  ///< an upper bound; 0: see mostEntriesInRow()
  std::string summary;
};

/// The problems that can be generated. Local.
const std::vector<GeneratorName>& generatorNames();

/// Row with this name, or null. Local.
const GeneratorName* findGenerator(const std::string& name);

/// Fills what the options leave empty (cells, velocity, stretching) with the defaults of the problem. Local.
GeneratorOptions withDefaults(GeneratorOptions options);

/// An upper bound of the entries in a row of the matrix described; options must be complete. Local.
int mostEntriesInRow(const GeneratorOptions& options);

/// What is wrong with complete options whose values are each allowed, found and allowed; empty where nothing is. Local.
std::string generatorProblem(const GeneratorOptions& options);

/// Number of rows of the matrix described, before anything is generated; a double, so that it cannot overflow. Options
/// must be complete. Local.
double generatedRows(const GeneratorOptions& options);

/// The matrix described; options must be complete (`withDefaults`) and valid. Local.
GeneratedMatrix generate(const GeneratorOptions& options);

}  // namespace capstan::deck
