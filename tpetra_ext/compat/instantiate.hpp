#pragma once

/// \file
/// Explicit instantiation for every real scalar, ordinals and node the installed Trilinos instantiates.
///
/// Use, in one .cpp per class, inside namespace capstan:
///
///     #define CAPSTAN_CLASS(S, LO, GO, NO) template class MyClass<TpetraTypes<S, LO, GO, NO>>;
///     CAPSTAN_INSTANTIATE(CAPSTAN_CLASS)
///
/// The combinations come from Trilinos' own list (TPETRA_INSTANTIATE_SLGN_NO_ORDINAL_SCALAR). Complex scalars and those
/// wider than double are passed over: the kernels are for float and double. MACRO ends with its own semicolon.

#include <TpetraCore_ETIHelperMacros.h>

namespace capstan {
TPETRA_ETI_MANGLING_TYPEDEFS()
}

// Trilinos calls the macro it is given with (scalar, LO, GO, node), the scalar being a mangled name. What is handed to
// it here turns each call into CAPSTAN_ETI_DISPATCH(MACRO, scalar, LO, GO, node), which picks by the scalar's name. The
// opening parenthesis has to come from a macro, since an argument cannot hold an unbalanced one, and must appear only
// when Trilinos' macro is expanded, not before: hence the empty word that keeps it back for one pass.
#define CAPSTAN_ETI_EXPAND(...) __VA_ARGS__
#define CAPSTAN_ETI_EMPTY
#define CAPSTAN_ETI_OPEN() (
#define CAPSTAN_ETI_REST(S, LO, GO, NO) , S, LO, GO, NO )
#define CAPSTAN_ETI_DISPATCH(MACRO, S, LO, GO, NO) CAPSTAN_ETI_##S(MACRO, S, LO, GO, NO)

#define CAPSTAN_ETI_double(MACRO, ...) MACRO(__VA_ARGS__)
#define CAPSTAN_ETI_float(MACRO, ...) MACRO(__VA_ARGS__)
#define CAPSTAN_ETI_std_complex0double0(MACRO, ...)
#define CAPSTAN_ETI_std_complex0float0(MACRO, ...)
#define CAPSTAN_ETI_longdouble(MACRO, ...)
#define CAPSTAN_ETI___float128(MACRO, ...)
#define CAPSTAN_ETI_dd_real(MACRO, ...)
#define CAPSTAN_ETI_qd_real(MACRO, ...)

// LIST is a macro that calls the macro it is given once per combination.
#define CAPSTAN_INSTANTIATE_FROM(LIST, MACRO) \
  CAPSTAN_ETI_EXPAND(LIST(CAPSTAN_ETI_DISPATCH CAPSTAN_ETI_OPEN CAPSTAN_ETI_EMPTY() MACRO CAPSTAN_ETI_REST))

/// Calls MACRO(S, LO, GO, NO) for every instantiated combination whose scalar is float or double.
#define CAPSTAN_INSTANTIATE(MACRO) CAPSTAN_INSTANTIATE_FROM(TPETRA_INSTANTIATE_SLGN_NO_ORDINAL_SCALAR, MACRO)
