// Keys that choose how the basis is kept orthogonal: Capstan's own, and those of Belos and of its Tpetra solvers. How
// they combine stands in resolveOrthogonalization().

#include <algorithm>

#include "belos_ext/parameters/parameter_groups.hpp"
#include "belos_ext/parameters/parameter_resolution.hpp"
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
    const bool tsqr = state.orthogonalization == "TSQR" || (!state.choleskyQr && !state.choleskyQr2);
    options.intraOrthogonalization = tsqr                ? IntraOrthogonalization::Tsqr
                                     : state.choleskyQr2 ? IntraOrthogonalization::CholQr2
                                                         : IntraOrthogonalization::CholQr;
  }
  if (state.given.count("Block Orthogonalization") == 0) {
    const bool oneReduction = options.intraOrthogonalization == IntraOrthogonalization::CholQr;
    options.blockOrthogonalization = schemeOf(state.orthogonalization, oneReduction);
  }
  options.blockOrthogonalizationGiven = state.given.count("Block Orthogonalization") != 0;
  if (state.reorthogonalizeBlocks) {
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
  ParameterRow row = described(
      "Orthogonalization", "string", "ICGS, IMGS, DGKS, TSQR, CGS, CGS2, MGS",
      "Belos' names. They choose \"Block Orthogonalization\" where it is not given. ICGS, DGKS and CGS2 mean "
      "single-reduce cgs2; IMGS and MGS mean single-reduce mgs; CGS means single-reduce cgs; TSQR means cgs2 with "
      "tsqr.");
  row.words = belosSchemes();
  row.parse = [](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    state.orthogonalization = belosScheme(entry);
  };
  row.costsReductions = [](const Teuchos::ParameterEntry& entry) { return belosScheme(entry) == "TSQR"; };
  row.print = [](const ParameterState& state, Teuchos::ParameterList& list) {
    list.set("Orthogonalization", state.orthogonalization);
  };
  row.remark = [](const Teuchos::ParameterEntry& entry, const MethodTraits& method) -> std::string {
    const bool tsqr = method.pipelined && belosScheme(entry) == "TSQR";
    return tsqr ? "pipelined methods have no tsqr" : "";
  };
  return row;
}

enum class Costly { Never, True, False };

/// \param costly the value that costs reductions here
ParameterRow upstreamSwitch(const std::string& name, bool ParameterState::*member, Costly costly,
                            const std::string& doc) {
  ParameterRow row = described(name, "bool", "true, false", doc);
  if (costly != Costly::Never) {
    row.costsReductions = [costly](const Teuchos::ParameterEntry& entry) {
      return toBool(entry) == (costly == Costly::True);
    };
  }
  row.parse = [member](const Teuchos::ParameterEntry& entry, ParameterState& state) { state.*member = toBool(entry); };
  row.print = [name, member](const ParameterState& state, Teuchos::ParameterList& list) {
    list.set(name, state.*member);
  };
  return row;
}

}  // namespace

std::vector<ParameterRow> orthogonalization() {
  return {
      choice(
          "Block Orthogonalization", &SolverOptions::blockOrthogonalization,
          "How a block is orthogonalised against the basis. The single-reduce schemes, pip2 and two-stage need "
          "cholqr within blocks. Pipelined, depth 1: single-reduce cgs2, cgs or mgs (cgs2, cgs and mgs mean the same); "
          "deeper: single-reduce cgs."),
      choice("Intra Orthogonalization", &SolverOptions::intraOrthogonalization,
             "How the vectors of a block are orthonormalised among themselves."),
      belosOrthogonalization(),
      upstreamSwitch(
          "CholeskyQR", &ParameterState::choleskyQr, Costly::False,
          "Key of Belos' TPETRA GMRES S-STEP: false chooses tsqr where \"Intra Orthogonalization\" is not given."),
      upstreamSwitch("CholeskyQR2", &ParameterState::choleskyQr2, Costly::True,
                     "Key of Belos' TPETRA GMRES S-STEP: true chooses cholqr2 where \"Intra Orthogonalization\" is not "
                     "given."),
      upstreamSwitch(
          "Reorthogonalize Blocks", &ParameterState::reorthogonalizeBlocks, Costly::Never,
          "Key of Belos' TPETRA GMRES S-STEP: true makes cgs2 of cgs and mgs, and single-reduce cgs2 of their "
          "single-reduce forms."),
  };
}

}  // namespace rows

}  // namespace capstan
