#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"

#include "belos_ext/orthogonalization/multi_reduce.hpp"
#include "belos_ext/orthogonalization/pythagorean.hpp"
#include "belos_ext/orthogonalization/single_reduce.hpp"
#include "belos_ext/orthogonalization/sketched.hpp"
#include "tpetra_ext/compat/instantiate.hpp"

namespace capstan {

template <class Types>
std::unique_ptr<BlockGramSchmidt<Types>> makeBlockGramSchmidt(BlockOrthogonalization scheme,
                                                              IntraOrthogonalization intra,
                                                              const Teuchos::RCP<const Teuchos::Comm<int>>& comm) {
  switch (scheme) {
    case BlockOrthogonalization::Cgs:
      return std::make_unique<ClassicalGramSchmidt<Types>>(1, intra, comm);
    case BlockOrthogonalization::Cgs2:
      return std::make_unique<ClassicalGramSchmidt<Types>>(2, intra, comm);
    case BlockOrthogonalization::Mgs:
      return std::make_unique<ModifiedGramSchmidt<Types>>(intra, comm);
    case BlockOrthogonalization::SingleReduceCgs:
      return std::make_unique<PythagoreanGramSchmidt<Types>>(1, false, comm);
    case BlockOrthogonalization::Pip2:
      return std::make_unique<PythagoreanGramSchmidt<Types>>(2, false, comm);
    case BlockOrthogonalization::TwoStage:
      return std::make_unique<PythagoreanGramSchmidt<Types>>(1, true, comm);
    case BlockOrthogonalization::Sketched:
      return std::make_unique<SketchedGramSchmidt<Types>>(comm);
    case BlockOrthogonalization::SingleReduceMgs:
      return std::make_unique<SingleReduceGramSchmidt<Types>>(Correction::Mgs, comm);
    case BlockOrthogonalization::SingleReduceCgs2:
      break;
  }
  return std::make_unique<SingleReduceGramSchmidt<Types>>(Correction::Cgs2, comm);
}

#define CAPSTAN_BLOCK_GRAM_SCHMIDT(S, LO, GO, NO)                                              \
  template std::unique_ptr<BlockGramSchmidt<TpetraTypes<S, LO, GO, NO>>> makeBlockGramSchmidt( \
      BlockOrthogonalization, IntraOrthogonalization, const Teuchos::RCP<const Teuchos::Comm<int>>&);

CAPSTAN_INSTANTIATE(CAPSTAN_BLOCK_GRAM_SCHMIDT)

}  // namespace capstan
