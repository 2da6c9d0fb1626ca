#pragma once

/// \file
/// What messages amount to, as plain data.

namespace capstan {

/// What all ranks send, and the rank that sends most.
struct SentByRanks {
  long long total = 0;
  long long mostOfARank = 0;
};

/// The messages of some products, or of one.
struct Traffic {
  SentByRanks networkMessages, networkBytes;  ///< between nodes
  SentByRanks nodeMessages, nodeBytes;        ///< within nodes

  /// That of so many products of these, with so many columns in all. Local.
  Traffic times(long products, long columns) const;
};

}  // namespace capstan
