// Keys that choose how the basis is kept orthogonal: Capstan's own, and those of Belos and of its Tpetra solvers. How
// they combine stands in resolveOrthogonalization().

#include <algorithm>
#include <optional>
#include <utility>

#include "belos_ext/parameters/parameter_groups.hpp"
#include "belos_ext/parameters/parameter_row_makers.hpp"

namespace capstan {

namespace {

const std::vector<std::string>& belosSchemes() {
  static const std::vector<std::string> names = {"ICGS", "IMGS", "DGKS", "TSQR", "CGS", "CGS2", "MGS"};
  return names;
}

std::string belosScheme(const Teuchos::ParameterEntry& entry) {
  return belosSchemes()[rows::wordAt(belosSchemes(), entry)];
}

BlockOrthogonalization schemeOf(const std::string& belosName, bool oneReduction) {
  if (belosName == "IMGS" || belosName == "MGS") {
    return oneReduction ? BlockOrthogonalization::SingleReduceMgs : BlockOrthogonalization::Mgs;
  }
  if (belosName == "CGS") return oneReduction ? BlockOrthogonalization::SingleReduceCgs : BlockOrthogonalization::Cgs;
  return oneReduction ? BlockOrthogonalization::SingleReduceCgs2 : BlockOrthogonalization::Cgs2;
}

BlockOrthogonalization withSecondPass(BlockOrthogonalization scheme) {
  switch (scheme) {
    case BlockOrthogonalization::Cgs:
    case BlockOrthogonalization::Mgs:
      return BlockOrthogonalization::Cgs2;
    case BlockOrthogonalization::SingleReduceCgs:
    case BlockOrthogonalization::SingleReduceMgs:
      return BlockOrthogonalization::SingleReduceCgs2;
    default:
      return scheme;
  }
}

void resolveOrthogonalization(ParameterState& state) {
  SolverOptions& options = state.options;
  if (state.given.count("Intra Orthogonalization") == 0) {
    const bool tsqr = options.orthogonalization == "TSQR" || (!options.choleskyQr && !options.choleskyQr2);
    options.intraOrthogonalization = tsqr                  ? IntraOrthogonalization::Tsqr
                                     : options.choleskyQr2 ? IntraOrthogonalization::CholQr2
                                                           : IntraOrthogonalization::CholQr;
  }
  if (state.given.count("Block Orthogonalization") == 0) {
    const bool oneReduction = options.intraOrthogonalization == IntraOrthogonalization::CholQr;
    options.blockOrthogonalization = schemeOf(options.orthogonalization, oneReduction);
  }
  options.blockOrthogonalizationGiven = state.given.count("Block Orthogonalization") != 0;
  if (options.reorthogonalizeBlocks) {
    options.blockOrthogonalization = withSecondPass(options.blockOrthogonalization);
  }
}

}  // namespace

void resolve(ParameterState& state) {
  resolveOrthogonalization(state);
  SolverOptions& options = state.options;
  const bool given = state.given.count("Basis") != 0 || !options.shiftsAuto || !options.eigenvalueBoundsAuto;
  if (!given && !options.computeRitzValues) options.basis = Basis::Monomial;
}

namespace rows {

namespace {

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

}  // namespace rows

using namespace rows;

std::vector<ParameterRow> SchemeOptions::rows() {
  return {
      choice("Block Orthogonalization", &SchemeOptions::blockOrthogonalization,
             "How a block is orthogonalised against the basis. The single-reduce schemes, pip2 and two-stage need "
             "cholqr within blocks. Pipelined, depth 1: single-reduce cgs2, cgs or mgs (cgs2, cgs and mgs mean the "
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
  };
}

std::vector<ParameterRow> upstreamSwitches() {
  return {
      upstreamSwitch("CholeskyQR", &BasisOptions::choleskyQr, false,
                     "false chooses tsqr where \"Intra Orthogonalization\" is not given."),
      upstreamSwitch("CholeskyQR2", &BasisOptions::choleskyQr2, true,
                     "true chooses cholqr2 where \"Intra Orthogonalization\" is not given."),
      upstreamSwitch("Reorthogonalize Blocks", &BasisOptions::reorthogonalizeBlocks, std::nullopt,
                     "true makes cgs2 of cgs and mgs, and single-reduce cgs2 of their single-reduce forms."),
  };
}

}  // namespace capstan
