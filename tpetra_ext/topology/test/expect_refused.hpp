#pragma once

/// \file
/// What a refusal has to say.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace capstan::topology::test {

/// call() throws std::invalid_argument, and the text names Capstan and contains `part`.
template <class Call>
void expectRefused(const Call& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown; wanted: " << part;
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("capstan: "), 0U) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nwanted: " << part;
  }
}

}  // namespace capstan::topology::test
