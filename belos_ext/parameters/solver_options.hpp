#pragma once

/// \file
/// What a solve is asked to do, as typed values with their defaults. Keys, ranges and meaning stand in
/// parameter_groups_*.cpp.

#include <Teuchos_RCP.hpp>
#include <array>
#include <complex>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tpetra_ext/execution.hpp"
#include "tpetra_ext/operators/row_domains.hpp"
#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/topology/device_aware_mpi.hpp"
#include "tpetra_ext/topology/reduction_strategy.hpp"

namespace capstan {

// wordsOf() has the words of an enumeration, in its order, as parameter lists spell them.

/// What a residual norm is divided by before it is compared with the tolerance (Belos::ScaleType).
enum class ResidualScaling { NormOfInitRes, NormOfPrecInitRes, NormOfRHS, None, UserProvided };
constexpr auto wordsOf(ResidualScaling) {
  return std::array{"Norm of Initial Residual", "Norm of Preconditioned Initial Residual", "Norm of RHS", "None",
                    "User Provided"};
}

/// The polynomials that generate the s basis vectors of a block.
enum class Basis { Monomial, Newton, Chebyshev };
constexpr auto wordsOf(Basis) { return std::array{"monomial", "newton", "chebyshev"}; }

/// How a block of new basis vectors is orthogonalised against the earlier ones.
enum class BlockOrthogonalization {
  Cgs,
  Cgs2,
  Mgs,
  SingleReduceCgs,
  SingleReduceCgs2,
  SingleReduceMgs,
  Pip2,
  TwoStage,
  Sketched
};
constexpr auto wordsOf(BlockOrthogonalization) {
  return std::array{"cgs",  "cgs2",      "mgs",     "single-reduce cgs", "single-reduce cgs2", "single-reduce mgs",
                    "pip2", "two-stage", "sketched"};
}

/// How the vectors of a block are orthonormalised among themselves.
enum class IntraOrthogonalization { CholQr, CholQr2, Tsqr };
constexpr auto wordsOf(IntraOrthogonalization) { return std::array{"cholqr", "cholqr2", "tsqr"}; }

/// Who goes on where a symmetric method cannot.
enum class Fallback { Gmres, None };
constexpr auto wordsOf(Fallback) { return std::array{"gmres", "none"}; }

/// Whether the iterate of least residual takes the place of CG's.
enum class ResidualSmoothingMode { Auto, On, Off };
constexpr auto wordsOf(ResidualSmoothingMode) { return std::array{"auto", "on", "off"}; }

/// What is done about constants in the null space of A.
enum class NullSpace { None, Constant, Auto };
constexpr auto wordsOf(NullSpace) { return std::array{"none", "constant", "auto"}; }

/// The norm of b - A x that is compared with the tolerance.
enum class ResidualNorm { Two, One };
constexpr auto wordsOf(ResidualNorm) { return std::array{"TwoNorm", "OneNorm"}; }

/// Where enlarged CG takes new directions from, and in how many reductions.
enum class EnlargedForm { Auto, Orthodir, Orthomin, Fused };
constexpr auto wordsOf(EnlargedForm) { return std::array{"auto", "orthodir", "orthomin", "fused"}; }
constexpr auto wordsOf(RowSplitting) { return std::array{"contiguous", "interleaved", "by rank"}; }

/// How the residual of the guess is known.
enum class InitialResidual { Computed, ZeroGuess };
constexpr auto wordsOf(InitialResidual) { return std::array{"computed", "zero guess"}; }

/// Whether GMRES keeps what the right preconditioner makes of its basis.
enum class KeepBasis { Auto, On, Off };
constexpr auto wordsOf(KeepBasis) { return std::array{"auto", "on", "off"}; }

/// What GMRES stores the final vectors of its basis in.
enum class BasisPrecision { Double, Single, Auto };
constexpr auto wordsOf(BasisPrecision) { return std::array{"double", "single", "auto"}; }

/// Who stands where in the hypercube of an embedded exchange.
enum class HypercubeMapping { None, Klr, Klf };
constexpr auto wordsOf(HypercubeMapping) { return std::array{"none", "klr", "klf"}; }

/// How the messages of a product with A travel.
enum class CommunicationStrategy { Application, Standard, TwoStep, ThreeStep, Optimal, Tuned };
constexpr auto wordsOf(CommunicationStrategy) {
  return std::array{"application", "standard", "two-step", "three-step", "optimal", "tuned"};
}

/// What CAPSTAN chooses by.
enum class ChoiceMode { Measured, Counted, Fixed };
constexpr auto wordsOf(ChoiceMode) { return std::array{"measured", "counted", "fixed"}; }

/// The spelling of a value in parameter lists.
constexpr auto wordsOf(Execution) { return std::array{"auto", "ordered", "tasks"}; }

template <class Enum, class = decltype(wordsOf(Enum()))>
std::string toString(Enum value) {
  return wordsOf(value).at(static_cast<std::size_t>(value));
}

/// When the recursive residual is replaced by the computed one, beyond the final check that always takes place.
struct ResidualReplacement {
  enum class Mode { Auto, Off, Every };
  Mode mode = Mode::Auto;
  int every = 0;  ///< iterations between replacements; only for Mode::Every
};

/// Where the iteration begins.
struct InitialGuess {
  enum class Mode { Application, Extrapolation, Projection };
  static constexpr int highestOrder = 3;  ///< beyond, coefficients of alternating sign make noise of the last digits
  static constexpr int mostVectors = 20;  ///< as many vectors again are images
  Mode mode = Mode::Application;
  int number = 0;  ///< the order of the extrapolation, or the vectors that are projected on

  bool operator==(const InitialGuess& other) const { return mode == other.mode && number == other.number; }
};

/// An interval that holds the spectrum, as far as it is known.
struct EigenvalueBounds {
  double min = 0.0;
  double max = 0.0;
};

struct ParameterRow;

// The options by concern, with the keys of each (parameter_groups_*.cpp), in the order in which they are parsed. A
// method names the concerns that are its own, and is given no others (OptionsOf): another method's key cannot reach it.

/// What every method is told.
struct CommonOptions {
  static std::vector<ParameterRow> rows();
  double tolerance = 1e-8;
  double absoluteTolerance = 0;  ///< of b - A x itself; 0: none
  int maxIterations = 1000;
  ResidualScaling implicitScaling = ResidualScaling::NormOfPrecInitRes;
  ResidualScaling explicitScaling = ResidualScaling::NormOfInitRes;
  bool implicitScalingGiven = false;  ///< asked for by the application or the user, not a default
  bool explicitScalingGiven = false;
  double userScale = 1.0;  ///< the divisor of ResidualScaling::UserProvided
  ResidualNorm residualNorm = ResidualNorm::Two;
  InitialResidual initialResidual = InitialResidual::Computed;
  InitialGuess initialGuess;
  int blockSize = 0;      ///< right-hand sides that advance together; 0: all of them
  bool flexible = false;  ///< an error in methods that have no such form
};

struct RestartOptions {
  static std::vector<ParameterRow> rows();
  int numBlocks = 300;          ///< iterations between restarts; the basis is allocated for this many vectors and one
  bool numBlocksGiven = false;  ///< else a solve may take fewer, to stay within `basisMemory`
  double basisMemory =
      std::numeric_limits<double>::infinity();  ///< bytes a rank has for the bases of one right-hand side
  int maxRestarts = 1000;
};

struct SchemeOptions {
  static std::vector<ParameterRow> rows();
  BlockOrthogonalization blockOrthogonalization = BlockOrthogonalization::SingleReduceCgs2;
  bool blockOrthogonalizationGiven = false;  ///< by its own key, not a default or one of Belos' names
  std::string orthogonalization = "ICGS";    ///< as spelt by Belos: chooses the scheme that is not given
};

/// Of Arnoldi methods whose reductions are not hidden.
struct ArnoldiOptions {
  static std::vector<ParameterRow> rows();
  IntraOrthogonalization intraOrthogonalization = IntraOrthogonalization::CholQr;
  KeepBasis keepPreconditionedBasis = KeepBasis::Auto;
  BasisPrecision basisPrecision = BasisPrecision::Double;
};

struct StepSizeOptions {
  static std::vector<ParameterRow> rows();
  bool stepSizeAuto = true;
  int stepSize = 5;  ///< the value asked for, or where "auto" starts
};

/// Of s-step methods: the polynomials of a block, and where what they need comes from; keys of Belos' own such method.
struct BasisOptions {
  static std::vector<ParameterRow> rows();
  Basis basis = Basis::Newton;
  bool computeRitzValues = true;  ///< false with automatic shifts: no Ritz values, hence the monomial basis
  bool computeRitzValuesOnFly =
      true;  ///< shifts from about s classical steps; false: from a whole classical restart cycle
  bool choleskyQr = true, choleskyQr2 = false;  ///< choose the scheme within blocks that is not given
  bool reorthogonalizeBlocks = false;
};

struct ShiftOptions {
  static std::vector<ParameterRow> rows();
  bool shiftsAuto = true;
  std::vector<std::complex<double>> shifts;  ///< closed under conjugation; empty when automatic
};

struct SpectrumOptions {
  static std::vector<ParameterRow> rows();
  bool eigenvalueBoundsAuto = true;
  EigenvalueBounds eigenvalueBounds;
};

struct DropOptions {
  static std::vector<ParameterRow> rows();
  double changeOfBasisDropTolerance = 0.0;  ///< tau of pipelined s-step GMRES; 0 keeps every entry
};

struct DepthOptions {
  static std::vector<ParameterRow> rows();
  int pipelineDepth = 1;  ///< reductions in flight
};

/// Of methods that hide reductions.
struct HiddenOptions {
  static std::vector<ParameterRow> rows();
  ProgressMode progress = ProgressMode::Poll;
  bool measureOverlap = false;
};

struct FallbackOptions {
  static std::vector<ParameterRow> rows();
  Fallback fallback = Fallback::Gmres;
};

/// Of methods for symmetric systems.
struct SymmetricOptions {
  static std::vector<ParameterRow> rows();
  ResidualReplacement residualReplacement;
  NullSpace nullSpace = NullSpace::Auto;
};

struct SmoothingOptions {
  static std::vector<ParameterRow> rows();
  ResidualSmoothingMode residualSmoothing = ResidualSmoothingMode::Auto;
};

struct PolynomialOptions {
  static std::vector<ParameterRow> rows();
  static constexpr int highestDegree = 64;  ///< as many products for an iteration hide any all-reduce
  int polynomialDegree = 1;                 ///< products an iteration takes; 1: no polynomial
};

struct ShadowOptions {
  static std::vector<ParameterRow> rows();
  static constexpr int largest = 16;
  int shadowSpace = 4;  ///< s of IDR(s)
};

struct EnlargedOptions {
  static std::vector<ParameterRow> rows();
  static constexpr int mostDirections = 64;
  bool enlargingFactorAuto = false;
  int enlargingFactor = 4;  ///< search directions an iteration; where it is automatic, those of the first solve
  EnlargedForm enlargedForm = EnlargedForm::Auto;
  RowSplitting residualSplitting = RowSplitting::Contiguous;
};

struct EmbeddingOptions {
  static std::vector<ParameterRow> rows();
  HypercubeMapping hypercubeMapping = HypercubeMapping::Klr;
};

/// The messages of products, and of reductions.
struct CommunicationOptions {
  static std::vector<ParameterRow> rows();
  CommunicationStrategy communicationStrategy = CommunicationStrategy::Application;
  int ranksPerNode = 0;       ///< 0: as MPI tells
  int messageSizeCutoff = 0;  ///< bytes; 0: automatic
  topology::ReductionStrategy reductionStrategy = topology::ReductionStrategy::Mpi;
  topology::DeviceAwareMpi deviceAwareMpi = topology::DeviceAwareMpi::Auto;
};

/// Who computes. It does not change the iterates.
struct ExecutionOptions {
  static std::vector<ParameterRow> rows();
  Execution execution = Execution::Auto;
  int threads = 0;  ///< of tasks; 0: automatic
};

struct OutputOptions {
  static std::vector<ParameterRow> rows();
  int verbosity = 0;                        ///< bits of Belos::MsgType
  int outputStyle = 0;                      ///< Belos::OutputType
  int outputFrequency = -1;                 ///< iterations between residual lines; -1 and 0: none
  Teuchos::RCP<std::ostream> outputStream;  ///< never null in Parameters::options()
  bool showMaximumResidualNormOnly = false;
  std::string timerLabel = "Capstan";
  std::string solverLabel;  ///< name of this solver in reports; empty: the canonical name
  std::string reportFile;   ///< JSON report; empty: none
  std::string historyFile;  ///< CSV residual history; empty: none
  std::string traceFile;    ///< JSON for trace viewers, of each rank; empty: none
  bool strictParameters = false;
  bool stateCache = true;
};

/// Of CAPSTAN, which chooses among the methods.
struct ChoiceOptions {
  static std::vector<ParameterRow> rows();
  ChoiceMode choiceMode = ChoiceMode::Measured;
  std::string choiceFile;  ///< JSON, what runs have found out; empty: none
};

/// Belos' keys for what Capstan does in one way only: there is nothing to keep.
struct CompatibilityOptions {
  static std::vector<ParameterRow> rows();
};

/// Whether every method takes the keys of a concern.
template <class Concern>
constexpr bool isGeneral = std::is_same_v<Concern, CommonOptions> || std::is_same_v<Concern, OutputOptions> ||
                           std::is_same_v<Concern, CommunicationOptions> || std::is_same_v<Concern, ExecutionOptions> ||
                           std::is_same_v<Concern, CompatibilityOptions>;

/// The options of these concerns. Those of other concerns become them and lose the rest; a concern that they lack is at
/// its defaults.
template <class... Concerns>
struct OptionsOf : Concerns... {
  /// These and those of one concern more, if it is.
  template <class Concern>
  using With = std::conditional_t<std::is_base_of_v<Concern, OptionsOf>, OptionsOf, OptionsOf<Concerns..., Concern>>;

  OptionsOf() = default;
  template <class Others,
            class = std::enable_if_t<std::is_base_of_v<CommonOptions, Others> && !std::is_base_of_v<OptionsOf, Others>>>
  OptionsOf(const Others& others) : Concerns(part<Concerns>(others))... {}  // NOLINT: they become them

 private:
  template <class Concern, class Others>
  static decltype(auto) part(const Others& others) {
    if constexpr (std::is_base_of_v<Concern, Others>) {
      return static_cast<const Concern&>(others);
    } else {
      return Concern();
    }
  }
};

/// What a method is given: the common ones and its own.
template <class... Own>
using MethodOptions = OptionsOf<CommonOptions, Own...>;

using AllOptions =
    OptionsOf<CommonOptions, OutputOptions, RestartOptions, DepthOptions, PolynomialOptions, ShadowOptions,
              EnlargedOptions, StepSizeOptions, BasisOptions, ShiftOptions, SpectrumOptions, DropOptions,
              SymmetricOptions, SmoothingOptions, FallbackOptions, SchemeOptions, ArnoldiOptions, EmbeddingOptions,
              HiddenOptions, CommunicationOptions, ExecutionOptions, ChoiceOptions, CompatibilityOptions>;

/// All there are: what a solver manager knows of a solve. What its method does not take is at its default.
struct SolverOptions : AllOptions {
  using AllOptions::AllOptions;
};

std::string toString(const ResidualReplacement& replacement);
std::string toString(const InitialGuess& guess);
std::string toString(const EigenvalueBounds& bounds);  ///< "min to max", six digits

}  // namespace capstan
