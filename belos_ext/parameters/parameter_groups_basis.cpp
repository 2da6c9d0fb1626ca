// Parameters of the basis: how many vectors at a time, which polynomials, their shifts and interval; how it is kept
// orthogonal, with the keys of Belos and of its Tpetra solvers (how they combine: resolve()).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "belos_ext/parameters/parameter_row_makers.hpp"

namespace capstan {

using namespace rows;

namespace {

constexpr int largestStepSize = 100;

void requireConjugatePairs(const std::vector<std::complex<double>>& shifts) {
  if (shifts.empty()) throw std::invalid_argument("is an empty list");
  for (const auto& shift : shifts) {
    if (!std::isfinite(shift.real()) || !std::isfinite(shift.imag())) throw std::invalid_argument("is not finite");
    const auto count = [&](const std::complex<double>& value) {
      return std::count(shifts.begin(), shifts.end(), value);
    };
    if (count(shift) != count(std::conj(shift))) {
      throw std::invalid_argument("has " + showComplex(shift) + " without its complex conjugate");
    }
  }
}

std::vector<std::complex<double>> toShifts(const Teuchos::ParameterEntry& entry) {
  auto shifts = toComplexList(entry);
  requireConjugatePairs(shifts);
  return shifts;
}

std::string showShifts(const std::vector<std::complex<double>>& shifts) {
  std::string text;
  for (const auto& shift : shifts) text += (text.empty() ? "[" : ", ") + showComplex(shift);
  return text + "]";
}

EigenvalueBounds toBounds(const Teuchos::ParameterEntry& entry) {
  const auto values = toComplexList(entry);
  if (values.size() != 2) throw std::invalid_argument("is not a list of two numbers");
  const EigenvalueBounds bounds = {values[0].real(), values[1].real()};
  const bool isReal = values[0].imag() == 0.0 && values[1].imag() == 0.0;
  if (!isReal || !std::isfinite(bounds.min) || !std::isfinite(bounds.max) || !(bounds.min < bounds.max)) {
    throw std::invalid_argument("is not an interval");
  }
  return bounds;
}

std::string showBounds(const EigenvalueBounds& bounds) {
  return fmt::format("[{}, {}]", showReal(bounds.min), showReal(bounds.max));
}

ParameterRow ritzValuesOnFlyRow() {
  ParameterRow row = boolean(
      "Compute Ritz Values on Fly", &BasisOptions::computeRitzValuesOnFly,
      "true: Ritz values from about s classical steps at the start; false: from a whole classical restart cycle.");
  row.costsReductions = [](const Teuchos::ParameterEntry& entry) { return !toBool(entry); };
  return row;
}

const std::vector<std::string>& belosSchemes() {
  static const std::vector<std::string> names = {"ICGS", "IMGS", "DGKS", "TSQR", "CGS", "CGS2", "MGS"};
  return names;
}

std::string belosScheme(const Teuchos::ParameterEntry& entry) { return belosSchemes()[wordAt(belosSchemes(), entry)]; }

ParameterRow belosOrthogonalization() {
  ParameterRow row = described("Orthogonalization", "string", "ICGS, IMGS, DGKS, TSQR, CGS, CGS2, MGS",
                               "Belos' names. They choose \"Block Orthogonalization\" where it is not given. ICGS, "
                               "DGKS and CGS2 mean single-reduce cgs2; IMGS and MGS mean single-reduce mgs; CGS means "
                               "single-reduce cgs; TSQR means cgs2 with tsqr.");
  row.words = belosSchemes();
  row.costsReductions = [](const Teuchos::ParameterEntry& entry) { return belosScheme(entry) == "TSQR"; };
  row.remark = [](const Teuchos::ParameterEntry& entry, const MethodTraits& method) -> std::string {
    const bool tsqr = method.pipelined && belosScheme(entry) == "TSQR";
    return tsqr ? "pipelined methods have no tsqr" : "";
  };
  return bound(std::move(row), &SchemeOptions::orthogonalization, belosScheme);
}

/// Of Belos' own s-step method. \param costly the value that costs reductions here, if one does
ParameterRow upstreamSwitch(const std::string& name, bool BasisOptions::*member, std::optional<bool> costly,
                            const std::string& doc) {
  ParameterRow row = in(ParameterGroup::Expert, boolean(name, member, "Key of Belos' TPETRA GMRES S-STEP: " + doc));
  if (costly) row.costsReductions = [costly](const Teuchos::ParameterEntry& entry) { return toBool(entry) == *costly; };
  return row;
}

}  // namespace

std::vector<ParameterRow> StepSizeOptions::rows() {
  return {orAuto(
      described("Step Size", "int or string", fmt::format("1 to {} (at most \"Num Blocks\"), or auto", largestStepSize),
                fmt::format("Basis vectors generated for one reduction. auto grows and shrinks it with the "
                            "conditioning of the blocks; a number is kept, and halved where a block breaks down. "
                            "Pipelined: auto starts with {}, grows by one after a cycle that went well, is halved by "
                            "one that broke down, and stays short where solves are.",
                            StepSizeOptions().stepSize)),
      &StepSizeOptions::stepSizeAuto, &StepSizeOptions::stepSize,
      [](const Teuchos::ParameterEntry& entry) { return toInt(entry, 1, largestStepSize); },
      [](int value) { return value; })};
}

std::vector<ParameterRow> BasisOptions::rows() {
  return {
      choice("Basis", &BasisOptions::basis,
             "The polynomials that generate a block's vectors. Default: newton, and monomial where \"Compute Ritz "
             "Values\" is false."),
      in(ParameterGroup::Expert,
         boolean("Compute Ritz Values", &BasisOptions::computeRitzValues,
                 "Whether Ritz values are computed for the shifts or the bounds of the basis.")),
      in(ParameterGroup::Expert, ritzValuesOnFlyRow()),
      upstreamSwitch("CholeskyQR", &BasisOptions::choleskyQr, false,
                     "false chooses tsqr where \"Intra Orthogonalization\" is not given."),
      upstreamSwitch("CholeskyQR2", &BasisOptions::choleskyQr2, true,
                     "true chooses cholqr2 where \"Intra Orthogonalization\" is not given."),
      upstreamSwitch("Reorthogonalize Blocks", &BasisOptions::reorthogonalizeBlocks, std::nullopt,
                     "true makes cgs2 of cgs and mgs, and single-reduce cgs2 of their single-reduce forms."),
  };
}

std::vector<ParameterRow> ShiftOptions::rows() {
  return {orAuto(
      described(
          "Shifts", "string or list of numbers",
          "auto, or finite numbers closed under complex conjugation, such as [1, 2+3i, 2-3i]",
          "Shifts of the Newton basis. auto takes Leja-ordered Ritz values; fewer shifts than steps are used in turn. "
          "Pipelined methods take the real parts; their auto is Chebyshev points of \"Eigenvalue Bounds\"."),
      &ShiftOptions::shiftsAuto, &ShiftOptions::shifts, toShifts, showShifts)};
}

std::vector<ParameterRow> SpectrumOptions::rows() {
  return {orAuto(described("Eigenvalue Bounds", "string or list of two numbers", "auto, or [min, max] with min < max",
                           "The interval of the Chebyshev basis, and of the Chebyshev shifts of pipelined methods. "
                           "auto takes it from Ritz values. Bounds that Ritz values of a solve prove wrong are "
                           "replaced by what these tell, and the report says so."),
                 &SpectrumOptions::eigenvalueBoundsAuto, &SpectrumOptions::eigenvalueBounds, toBounds, showBounds)};
}

std::vector<ParameterRow> DropOptions::rows() {
  return {
      in(ParameterGroup::Expert, real("Change of Basis Drop Tolerance", &DropOptions::changeOfBasisDropTolerance, 0.0,
                                      "tau: entries of the change of basis under tau times the norm of the next vector "
                                      "and the spectral radius are dropped. 0 keeps all."))};
}

std::vector<ParameterRow> SchemeOptions::rows() {
  return {
      choice("Block Orthogonalization", &SchemeOptions::blockOrthogonalization,
             "How a block is orthogonalised against the basis. The single-reduce schemes, pip2, two-stage and sketched "
             "need cholqr within blocks (sketched: it has a factorisation of its own). sketched reads the basis once, "
             "not twice, and bears worse conditioned blocks; a cycle ends with up to 1.15 times the least residual. "
             "Pipelined, depth 1: single-reduce cgs2, cgs or mgs (cgs2, cgs and mgs mean the "
             "same); deeper: single-reduce cgs."),
      belosOrthogonalization(),
  };
}

std::vector<ParameterRow> ArnoldiOptions::rows() {
  return {
      choice("Intra Orthogonalization", &ArnoldiOptions::intraOrthogonalization,
             "How the vectors of a block are orthonormalised among themselves."),
      in(ParameterGroup::Expert,
         choice("Keep Preconditioned Basis", &ArnoldiOptions::keepPreconditionedBasis,
                "Whether what the right preconditioner makes of the basis is kept, which saves its application at the "
                "end of a cycle and doubles the memory of the basis. auto: where both bases take at most a tenth of a "
                "rank's share of the memory.")),
      choice(
          "Basis Precision", &ArnoldiOptions::basisPrecision,
          "What the basis is stored in, once its vectors are final: all arithmetic, x and what \"Keep Preconditioned "
          "Basis\" and \"Flexible Gmres\" keep stay in double precision. single halves what orthogonalisation "
          "reads; a cycle then ends where it has gained six digits, and one whose residual is not what it should be "
          "makes the rest of the solve double. auto stores both, and takes single for cycles after one that would "
          "have borne it. With \"single-reduce cgs2\" and \"single-reduce mgs\"."),
  };
}

}  // namespace capstan
