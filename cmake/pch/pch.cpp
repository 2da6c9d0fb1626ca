/// \file
/// Carries the flags of the shared precompiled header (cmake/CapstanPch.cmake); holds no code.
