#pragma once

/// \file
/// What is known of each method without running it: names, family, needs, parameters, cost. Registry, tables,
/// parameters, adapters, tests and documents read it from here.

#include <string>
#include <vector>

namespace capstan {

struct SolverOptions;

enum class Family { Gmres, ConjugateGradients, BiCgStab, Idr };

/// "GMRES", "CG", "BiCGStab", "IDR".
std::string toString(Family family);

/// What a method multiplies, after the residual of the guess, before its first reduction. Of its default parameters:
/// others may ask for something else, which then takes a reduction more in the first solve (manager/opening.hpp).
enum class FirstProducts {
  None,
  Native,          ///< M_L^{-1} r
  Preconditioned,  ///< M^{-1} r
  Direction,       ///< z = M^{-1} r, and A z
  Image            ///< z = M^{-1} r, A z, and M^{-1} A z
};

/// The cost of one iteration in steady state, with the default orthogonalization. Declared beside each solver; tests
/// count it, flops and bytes by the rules of tpetra_ext/reductions/vector_work.hpp.
struct Cost {
  double reductions;       ///< all-reduces; a method that needs 1 every s iterations says 1.0 / s
  double operators;        ///< applications of A; one to a block of directions counts once
  double preconditioners;  ///< applications of M^{-1}, likewise
  double vectors;          ///< n-vectors of storage beyond b and x
  double flops;  ///< for each row, without those of A and M; restarted methods: average of a cycle without its restart
  double bytes;  ///< read and written for each row, in double precision, without those of A and M
  double ahead = 0;  ///< applications of A, and of M^{-1}, that fill a pipeline: once a solve, beyond its iterations
};

/// What sets a method apart, beyond what its row says anyway: nobody asks for names or parameters instead.
enum class Trait {
  Directions,  ///< several search directions an iteration, "Enlarging Factor" of them, with parts of the residual
  Embeds,      ///< products travel inside reductions
  EitherSign,  ///< symmetric A or M may be negative definite, or both: nothing takes a root of (r, M^{-1} r)
  /// Residuals are the least there are, by short recurrences: a loose tolerance is met sooner than by CG, with a larger
  /// error in x.
  LeastResidual
};

/// One method: a row of methods().
struct MethodTraits {
  std::string canonical;  ///< its name, as in Belos, for example "CAPSTAN GMRES S-STEP"
  std::string alias;      ///< one word, for decks that cannot hold blanks, for example "capstan_sstep_gmres"
  std::string summary;    ///< one line for tables
  std::string source;     ///< keys of docs/references.md, in brackets: the papers it is taken from
  Family family;
  bool needsSymmetric;  ///< A and M symmetric; rows that hold a diagonal alone are solved first
  bool pipelined;       ///< reductions in flight while products are computed
  FirstProducts firstProducts;
  Cost (*cost)(const SolverOptions& options, bool preconditioned);  ///< with a preconditioner on one side, or without
  std::string next = {};  ///< the method that goes on where this one cannot, as canonical; empty: none
  std::vector<Trait> traits = {};
  std::vector<std::string> parameters = {};  ///< those that not every method takes: from its options

  bool is(Trait trait) const;
  bool takes(const std::string& parameter) const;
};

/// The methods that can be created, in the order in which tables list them. Defined in belos_ext/registry, which alone
/// knows the solvers. Local.
const std::vector<MethodTraits>& methods();

/// CAPSTAN, which chooses among them for each solve of a sequence (belos_ext/choice). It takes all parameters: what the
/// chosen method does not take has no effect. It has no cost of its own.
const MethodTraits& choosingMethod();

/// All that can be asked for by name: CAPSTAN, then methods(). Local.
const std::vector<const MethodTraits*>& namedMethods();

/// The method of a canonical name or alias in any case, or nullptr when there is none. Local.
const MethodTraits* findMethod(const std::string& name);

/// As findMethod(). Throws std::invalid_argument when there is none.
const MethodTraits& methodOf(const std::string& name);

/// Whether a name claims to be Capstan's, that is, starts with "capstan" in any case; it need not be valid.
bool looksLikeOurs(const std::string& name);

/// What to tell the user about a name that findMethod() does not know: the name, every valid name, the nearest one.
std::string unknownSolverMessage(const std::string& name);

/// Throws std::invalid_argument with unknownSolverMessage(name).
[[noreturn]] void throwUnknownSolver(const std::string& name);

/// Canonical names and aliases of all of them.
std::vector<std::string> namesAndAliases();

/// The table of solvers in Markdown (for the README) and as plain text (for a terminal).
std::string solverTableMarkdown();
std::string solverTableText();

/// What an iteration costs with the default parameters, in Markdown (for docs/methods.md) and as plain text.
std::string costTableMarkdown();
std::string costTableText();

}  // namespace capstan
