#pragma once
/// \file
/// A block Gram-Schmidt scheme that is kept, with its messages, from solve to solve.

#include <memory>

#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"

namespace capstan {

/// Makes the scheme anew only where other options, or vectors on another communicator, ask for another one. Schemes
/// begin every cycle afresh, so that nothing else of a solve lives on in them.
template <class Types>
class KeptGramSchmidt {
 public:
  using Options = OptionsOf<SchemeOptions, ArnoldiOptions>;

  /// The scheme of these options for vectors on `comm`. Local.
  BlockGramSchmidt<Types>& get(const Options& options, const Teuchos::RCP<const Teuchos::Comm<int>>& comm) {
    if (!scheme_ || block_ != options.blockOrthogonalization || intra_ != options.intraOrthogonalization ||
        comm_.get() != comm.get()) {
      block_ = options.blockOrthogonalization;
      intra_ = options.intraOrthogonalization;
      comm_ = comm;
      scheme_ = makeBlockGramSchmidt<Types>(block_, intra_, comm);
    }
    return *scheme_;
  }

  BlockGramSchmidt<Types>* operator->() { return scheme_.get(); }
  BlockGramSchmidt<Types>& operator*() { return *scheme_; }

 private:
  BlockOrthogonalization block_ = BlockOrthogonalization::SingleReduceCgs2;
  IntraOrthogonalization intra_ = IntraOrthogonalization::CholQr;
  Teuchos::RCP<const Teuchos::Comm<int>> comm_;
  std::unique_ptr<BlockGramSchmidt<Types>> scheme_;
};

}  // namespace capstan
