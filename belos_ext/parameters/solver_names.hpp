#pragma once

/// \file
/// The names under which Belos::SolverFactory finds Capstan's methods. A name is added here and nowhere else.

#include <string>
#include <vector>

namespace capstan {

/// The Krylov methods. Only those with a row in solverNames() can be created.
enum class Method { Gmres, SStepGmres, PipelinedGmres, PipelinedSStepGmres, Cg, PipelinedCg, EnlargedCg, EmbeddedCg };

/// One method's name, as users write it.
struct SolverName {
  std::string canonical;  ///< as in Belos, for example "CAPSTAN GMRES S-STEP"
  std::string alias;      ///< one word, for decks that cannot hold blanks, for example "capstan_sstep_gmres"
  Method method;
  std::string summary;  ///< one line for tables
  std::string source;   ///< the publication the method is taken from
};

/// The methods that can be created, in the order in which tables list them. Local.
const std::vector<SolverName>& solverNames();

/// The method of a canonical name or alias in any case, or nullptr when there is none. Local.
const SolverName* findSolver(const std::string& name);

/// The families that code outside a solver has to tell apart, whether or not each can be created. Local.
const std::vector<Method>& conjugateGradientMethods();
const std::vector<Method>& pipelinedMethods();
bool isConjugateGradient(Method method);
bool isPipelined(Method method);

/// The row of a method. Throws std::invalid_argument when the method cannot be created.
const SolverName& solverName(Method method);

/// Whether a name claims to be Capstan's, that is, starts with "capstan" in any case; it need not be valid.
bool looksLikeOurs(const std::string& name);

/// What to tell the user about a name that findSolver() does not know: the name, every valid name, the nearest one.
std::string unknownSolverMessage(const std::string& name);

/// Throws std::invalid_argument with unknownSolverMessage(name).
[[noreturn]] void throwUnknownSolver(const std::string& name);

/// The table of solvers in Markdown (for the README) and as plain text (for a terminal).
std::string solverTableMarkdown();
std::string solverTableText();

}  // namespace capstan
