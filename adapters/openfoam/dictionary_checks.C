// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdlib>
#include <set>

#include "adapters/openfoam/dictionary_checks.H"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::foam {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

[[noreturn]] void fail(const Foam::dictionary& dict, const std::string& message) {
  FatalIOErrorInFunction(dict) << message.c_str() << Foam::exit(Foam::FatalIOError);
  std::abort();  // FatalIOError does not return
}

void warnUnknown(const Foam::dictionary& dict, const std::vector<std::string>& known, const std::string& who,
                 const std::vector<std::string>& ofOthers) {
  static std::set<std::string> warned;
  const auto isAmong = [](const std::vector<std::string>& words, const std::string& key) {
    return std::find(words.begin(), words.end(), key) != words.end();
  };
  for (const auto& item : dict) {
    const std::string key = item.keyword();
    if (!isAmong(known, key) && !isAmong(ofOthers, key) && warned.insert(dict.name() + "/" + key).second) {
      IOWarningInFunction(dict) << who.c_str() << " does not know the entry '" << key.c_str()
                                << "' and makes no use of it" << didYouMean(key, known).c_str() << Foam::nl
                                << "    It knows: " << join(known).c_str() << Foam::endl;
    }
  }
}

}  // namespace capstan::foam
