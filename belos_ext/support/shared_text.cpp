#include "belos_ext/support/shared_text.hpp"

#include <fmt/format.h>

#include <Teuchos_CommHelpers.hpp>

namespace capstan {

std::string sharedText(const std::string& mine, int root, const Teuchos::Comm<int>& comm) {
  int length = static_cast<int>(mine.size());
  Teuchos::broadcast<int, int>(comm, root, 1, &length);
  std::string text = mine;
  text.resize(static_cast<std::size_t>(length));
  if (length > 0) Teuchos::broadcast<int, char>(comm, root, length, text.data());
  return text;
}

std::string firstComplaint(const std::string& mine, const Teuchos::Comm<int>& comm) {
  const int none = comm.getSize();
  const int own[] = {mine.empty() ? none : comm.getRank(), mine.empty() ? 0 : 1};
  int least[2];
  Teuchos::reduceAll<int, int>(comm, Teuchos::REDUCE_MIN, 2, own, least);
  if (least[0] == none) return "";
  const std::string text = sharedText(mine, least[0], comm);
  return least[1] == 1 ? text : text + fmt::format(" (on rank {}, not on all ranks)", least[0]);
}

}  // namespace capstan
