// Parameters that steer the iteration: when it stops, and the size of the Krylov space.

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "belos_ext/parameters/parameter_row_makers.hpp"

namespace capstan {

using namespace rows;

namespace {

/// Belos' names, and its other names for the same norms; a subvector's norm is the full one where there are no
/// subvectors.
const std::vector<std::pair<std::string, ResidualScaling>>& scalingWords() {
  static const std::vector<std::pair<std::string, ResidualScaling>> words = {
      {"Norm of Initial Residual", ResidualScaling::NormOfInitRes},
      {"Norm of Preconditioned Initial Residual", ResidualScaling::NormOfPrecInitRes},
      {"Norm of RHS", ResidualScaling::NormOfRHS},
      {"Norm of Right-Hand Side", ResidualScaling::NormOfRHS},
      {"None", ResidualScaling::None},
      {"User Provided", ResidualScaling::UserProvided},
      {"Norm of Full Initial Residual", ResidualScaling::NormOfInitRes},
      {"Norm of Full Preconditioned Initial Residual", ResidualScaling::NormOfPrecInitRes},
      {"Norm of Full Scaled Initial Residual", ResidualScaling::NormOfInitRes},
      {"Norm of Full Scaled Preconditioned Initial Residual", ResidualScaling::NormOfPrecInitRes},
  };
  return words;
}

ResidualScaling toScaling(const Teuchos::ParameterEntry& entry) {
  std::vector<std::string> names;
  for (const auto& word : scalingWords()) names.push_back(word.first);
  return scalingWords()[wordAt(names, entry)].second;
}

ParameterRow scaling(const std::string& name, ResidualScaling CommonOptions::*member, const std::string& doc) {
  ParameterRow row = described(
      name, "string",
      "Norm of Initial Residual, Norm of Preconditioned Initial Residual, Norm of RHS, None, User Provided", doc);
  for (const auto& word : scalingWords()) row.words.push_back(word.first);
  return bound(std::move(row), member, toScaling, [](ResidualScaling value) { return toString(value); });
}

ParameterRow residualScalingRow() {
  ParameterRow row = scaling("Residual Scaling", &CommonOptions::implicitScaling,
                             "Sets \"Implicit Residual Scaling\" and \"Explicit Residual Scaling\" at once; those two "
                             "win where they stand in the same list. The default leaves the two as they are.");
  row.words.insert(row.words.begin(), "as the two");
  row.allowed = "as for \"Implicit Residual Scaling\", or as the two";
  row.parse = [](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    if (isWord(entry, "as the two")) return;
    state.options.implicitScaling = state.options.explicitScaling = toScaling(entry);
    // It is they that were given: as the two it gives neither.
    if (!entry.isDefault()) state.given.insert({"Implicit Residual Scaling", "Explicit Residual Scaling"});
  };
  row.show = [](const ParameterState& state) {
    const bool same = state.options.implicitScaling == state.options.explicitScaling;
    return Teuchos::ParameterEntry(same ? toString(state.options.implicitScaling) : std::string("as the two"));
  };
  return row;
}

ParameterRow userScaleRow() {
  ParameterRow row = described("User Defined Residual Scaling", "double", "a number > 0",
                               "What residual norms are divided by where a scaling is \"User Provided\".");
  return bound(std::move(row), &CommonOptions::userScale, [](const Teuchos::ParameterEntry& entry) {
    const double value = toReal(entry);
    if (!std::isfinite(value) || value <= 0.0) throw std::invalid_argument("is out of range");
    return value;
  });
}

ResidualReplacement toReplacement(const Teuchos::ParameterEntry& entry) {
  using Mode = ResidualReplacement::Mode;
  // A YAML loader may have made a bool of "off".
  if (isWord(entry, "off") || (holds<bool>(entry) && !toBool(entry))) return {Mode::Off, 0};
  if (isWord(entry, "auto")) return {};
  const std::string word = holds<std::string>(entry) ? normalizedName(toText(entry)) : std::string();
  const int every = word.rfind("every ", 0) == 0 ? toInt(Teuchos::ParameterEntry(word.substr(6))) : toInt(entry);
  if (every < 1) throw std::invalid_argument("is out of range");
  return {Mode::Every, every};
}

ParameterRow residualReplacementRow() {
  ParameterRow row =
      described("Residual Replacement", "string or int", "auto, off, every N (N >= 1), or N itself",
                "When the recursive residual is replaced by b - A x, beyond the check that ends every solve. auto: "
                "when rounding may have separated the two. off: never. every N: every N iterations.");
  row.words = {"auto", "off", "every 10"};
  return bound(std::move(row), &SymmetricOptions::residualReplacement, toReplacement,
               [](const ResidualReplacement& value) { return toString(value); });
}

/// "extrapolation 2" and the like. Throws std::invalid_argument.
InitialGuess toInitialGuess(const Teuchos::ParameterEntry& entry) {
  const std::string text = toText(entry);
  const std::size_t end = text.find_first_of(" _");
  const std::string word = normalizedName(text.substr(0, end));
  const bool extrapolates = word == "extrapolation";
  if (normalizedName(text) == "application") return {};
  if (!extrapolates && word != "projection") throw std::invalid_argument("is not one of the allowed words");
  if (end == std::string::npos) throw std::invalid_argument("lacks its number");
  const int number = toInt(Teuchos::ParameterEntry(text.substr(end + 1)));
  if (number < 1 || number > (extrapolates ? InitialGuess::highestOrder : InitialGuess::mostVectors)) {
    throw std::invalid_argument("is out of range");
  }
  return {extrapolates ? InitialGuess::Mode::Extrapolation : InitialGuess::Mode::Projection, number};
}

ParameterRow initialGuessRow() {
  ParameterRow row =
      described("Initial Guess", "string",
                fmt::format("application, extrapolation N (N = 1 to {}), projection N (N = 1 to {})",
                            InitialGuess::highestOrder, InitialGuess::mostVectors),
                "Where the iteration begins. application: at the application's x. extrapolation N: at the polynomial "
                "of degree N through the last solutions of the label, equally spaced in time. projection N: at what "
                "the last N solutions tell of this one (Fischer 1998): the least error in the A-norm for CG, and where "
                "the problem is said to be Hermitian; else the least residual. A guess is taken only where b - A x "
                "gets smaller by it; residuals stay scaled by the application's own x. N + 1, or 2 N, vectors are kept "
                "for each right-hand side, in all at most a tenth of a rank's share of the memory.");
  row.words = {"application", "extrapolation 1", "projection 10"};
  return bound(std::move(row), &CommonOptions::initialGuess, toInitialGuess,
               [](const InitialGuess& value) { return toString(value); });
}

}  // namespace

std::vector<ParameterRow> CommonOptions::rows() {
  return {
      in(ParameterGroup::Basic,
         real("Convergence Tolerance", &CommonOptions::tolerance, 0.0,
              "The scaled residual norm at which a right-hand side has converged; 0 iterates to a limit below.")),
      in(ParameterGroup::Basic, real("Absolute Tolerance", &CommonOptions::absoluteTolerance, 0.0,
                                     "The norm of b - A x, not scaled, at which a right-hand side has converged as "
                                     "well: one of the two tolerances "
                                     "is enough. 0: the other one alone.")),
      in(ParameterGroup::Basic,
         integer("Maximum Iterations", &CommonOptions::maxIterations, 0,
                 "The most iterations for each set of right-hand sides. An s-step block counts s iterations.")),
      residualScalingRow(),
      scaling("Implicit Residual Scaling", &CommonOptions::implicitScaling,
              "What the recursive residual is divided by before it is compared with the tolerance. As in Belos, the "
              "computed residual that decides is divided by it too where no explicit scaling is given."),
      scaling("Explicit Residual Scaling", &CommonOptions::explicitScaling,
              "What the computed residual b - A x is divided by in the check that decides on convergence. As in Belos, "
              "only where it is given, or GMRES has a left preconditioner; elsewhere the implicit scaling counts."),
      userScaleRow(),
      choice("Residual Norm", &CommonOptions::residualNorm,
             "The norm of b - A x that is compared with the tolerance. OneNorm: the sum of absolute values, as "
             "OpenFOAM judges; b - A x alone decides then, without a left preconditioner, scaled as the explicit "
             "scaling says where it is given, else as the implicit one. It costs no reduction."),
      choice("Initial Residual", &CommonOptions::initialResidual,
             "Where the solve begins. computed: at what x holds. zero guess: at x = 0, whatever x holds. b - A x of "
             "the guess takes a product, unless all earlier solves of as many equations and right-hand sides began at "
             "x = 0: it is then taken to be b, and a solve that finds another x in its first reduction begins once "
             "more, at that x."),
      initialGuessRow(),
      integer("Block Size", &CommonOptions::blockSize, 0,
              "Right-hand sides that advance together and share their reductions; 0: all of them. Each has its own "
              "Krylov space and stops on its own."),
      boolean("Flexible Gmres", &CommonOptions::flexible,
              "Whether the right preconditioner may change from one application to the next. This costs a second "
              "basis. It is an error with methods other than GMRES, and with pipelined ones."),
  };
}

std::vector<ParameterRow> RestartOptions::rows() {
  return {
      in(ParameterGroup::Basic,
         integer("Num Blocks", &RestartOptions::numBlocks, 1,
                 "Iterations between restarts. The memory holds this many basis vectors and one for each right-hand "
                 "side. Where nobody names it, it is that of Belos, or 200, 150, 100, 70, 50, 30 or 20 where the basis "
                 "would take more than a tenth of a rank's share of the memory (the report says so).")),
      in(ParameterGroup::Expert, integer("Maximum Restarts", &RestartOptions::maxRestarts, 0,
                                         "The most restarts for each set of right-hand sides.")),
  };
}

std::vector<ParameterRow> DepthOptions::rows() {
  return {
      integer("Pipeline Depth", &DepthOptions::pipelineDepth, 1,
              "The number of reductions in flight: l of p(l)-GMRES and p(l)-CG, blocks in flight of pipelined s-step "
              "GMRES. A larger depth hides slower networks and is less stable; it is reduced where a solve breaks "
              "down, and in later solves with the same matrix values (\"State Cache\")."),
  };
}

std::vector<ParameterRow> ChoiceOptions::rows() {
  return {
      choice<ChoiceMode>(
          "Choice", &ChoiceOptions::choiceMode,
          "What CAPSTAN chooses by. measured: the seconds that solves take. counted: their iterations, at the seconds "
          "that a model machine takes for them, so that every run chooses the same. fixed: what \"Choice File\" has "
          "found to be the best, without trials."),
      text("Choice File", &ChoiceOptions::choiceFile, "a file in an existing folder; empty: none",
           "The JSON file in which CAPSTAN keeps what it finds out of each system (\"Solver Name\", or the matrix's "
           "label), for later runs to begin with. Rank 0 reads it before the first solve of a system, and writes it "
           "when the choice changes and after 2, 4, 8 and so on solves."),
  };
}

std::vector<ParameterRow> PolynomialOptions::rows() {
  return {
      integer("Polynomial Degree", &PolynomialOptions::polynomialDegree, 1, PolynomialOptions::highestDegree,
              "d: M is followed by Chebyshev's polynomial of degree d in M^-1 A, so that an iteration takes d products "
              "and d applications of M. CG needs about 1 / d of the iterations, and so of the all-reduces, for 1.1 to "
              "1.3 times the products. A and M have to be symmetric and definite. 1: none."),
  };
}

std::vector<ParameterRow> ShadowOptions::rows() {
  return {integer("Shadow Space", &ShadowOptions::shadowSpace, 1, ShadowOptions::largest,
                  "s of IDR(s): vectors of the shadow space, at most as many as the system has rows. More need fewer "
                  "products, and more memory and work for each: 3 s vectors.")};
}

std::vector<ParameterRow> EnlargedOptions::rows() {
  return {
      orAuto(
          described(
              "Enlarging Factor", "int or string", fmt::format("1 to {}, or auto", EnlargedOptions::mostDirections),
              fmt::format("Search directions an iteration, t. More need fewer iterations and reductions, and more work "
                          "and memory for each. At most as many as the system has rows. auto: {} in the first solve of "
                          "a label; later ones try twice and half as many, 1 (CAPSTAN CG) to 16, and stay where a "
                          "digit of the residual took the least time, so that runs may differ.",
                          EnlargedOptions().enlargingFactor)),
          &EnlargedOptions::enlargingFactorAuto, &EnlargedOptions::enlargingFactor,
          [](const Teuchos::ParameterEntry& entry) { return toInt(entry, 1, EnlargedOptions::mostDirections); },
          [](int value) { return value; }),
      choice("Enlarged Form", &EnlargedOptions::enlargedForm,
             "Where new search directions come from. orthodir: from A P, as published; two reductions an iteration; "
             "for well-conditioned systems. orthomin: from the residuals; two reductions. fused: the same in one "
             "reduction, with one application of the preconditioner more a solve. auto: fused where there is no "
             "preconditioner, or one that scales by a diagonal; else orthomin."),
      choice("Residual Splitting", &EnlargedOptions::residualSplitting,
             "How the residual is split among the search directions. contiguous: equal ranges of global row numbers. "
             "interleaved: rows in turn. by rank: ranks in turn; with fewer ranks than directions, each rank's rows "
             "are shared out among several."),
  };
}

std::vector<ParameterRow> SymmetricOptions::rows() {
  return {
      residualReplacementRow(),
      choice("Null Space", &SymmetricOptions::nullSpace,
             "What is projected out of what the preconditioner makes, so that rounding does not fill x with it. The "
             "projection uses the reduction that is there anyway. constant: constants, for a symmetric A that "
             "annihilates them (all-Neumann pressure). They are projected out of b - A x too, if b has one that no A x "
             "has: then the solve ends unconverged (\"inconsistent\") when the rest meets the tolerance. auto: the "
             "same where all rows of A sum to zero."),
  };
}

std::vector<ParameterRow> SmoothingOptions::rows() {
  return {
      choice(
          "Residual Smoothing", &SmoothingOptions::residualSmoothing,
          "CG's residual may rise from one iteration to the next. With smoothing, x is mixed with the x before so "
          "that its residual never rises (Zhou and Walker 1994). The tolerance is met no later, but the error of x is "
          "larger. It takes two more vectors. auto: if the preconditioner is seen not to be linear, as OpenFOAM's "
          "multigrid. on: also with any preconditioner beyond a diagonal, in the first 20 iterations. off: never. "
          "Enlarged CG does it, unless off, once its residual has not fallen for long."),
  };
}

std::vector<ParameterRow> FallbackOptions::rows() {
  return {
      choice("Fallback", &FallbackOptions::fallback,
             "What goes on where CG, BiCGStab or IDR cannot, and the residual no longer falls: under CG, to which CR "
             "hands over, where A or the preconditioner is not symmetric positive definite; under BiCGStab and IDR, "
             "where restarts gain nothing. gmres: CAPSTAN GMRES goes on from the better of the iterate and the guess, "
             "and the report says so: with restart 30, and twice as much after each cycle that has not halved the "
             "residual, up to what Num Blocks is by default. none: the solve ends."),
  };
}

}  // namespace capstan
