#include "adapters/deck/shared_text.hpp"

namespace capstan::deck {

std::string sharedText(std::string text, int root, MPI_Comm comm) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, root, comm);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, root, comm);
  return text;
}

}  // namespace capstan::deck
