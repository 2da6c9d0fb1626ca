#pragma once
/// \file
/// Every pair of block and intra-panel orthogonalisation the options allow, and what theory says of it.

#include <ostream>
#include <string>
#include <vector>

#include "belos_ext/parameters/solver_options.hpp"

namespace capstan::testing {

struct Scheme {
  BlockOrthogonalization block;
  IntraOrthogonalization intra;
  std::string name;
};

inline std::ostream& operator<<(std::ostream& out, const Scheme& scheme) { return out << scheme.name; }

inline const std::vector<Scheme>& allSchemes() {
  using Block = BlockOrthogonalization;
  using Intra = IntraOrthogonalization;
  static const std::vector<Scheme> schemes{{Block::Cgs, Intra::CholQr, "cgs_cholqr"},
                                           {Block::Cgs, Intra::CholQr2, "cgs_cholqr2"},
                                           {Block::Cgs, Intra::Tsqr, "cgs_tsqr"},
                                           {Block::Cgs2, Intra::CholQr, "cgs2_cholqr"},
                                           {Block::Cgs2, Intra::CholQr2, "cgs2_cholqr2"},
                                           {Block::Cgs2, Intra::Tsqr, "cgs2_tsqr"},
                                           {Block::Mgs, Intra::CholQr, "mgs_cholqr"},
                                           {Block::Mgs, Intra::CholQr2, "mgs_cholqr2"},
                                           {Block::Mgs, Intra::Tsqr, "mgs_tsqr"},
                                           {Block::SingleReduceCgs, Intra::CholQr, "single_reduce_cgs"},
                                           {Block::SingleReduceCgs2, Intra::CholQr, "single_reduce_cgs2"},
                                           {Block::SingleReduceMgs, Intra::CholQr, "single_reduce_mgs"},
                                           {Block::Pip2, Intra::CholQr, "pip2"},
                                           {Block::TwoStage, Intra::CholQr, "two_stage"},
                                           {Block::Sketched, Intra::CholQr, "sketched"}};
  return schemes;
}

}  // namespace capstan::testing
