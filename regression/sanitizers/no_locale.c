/* Preloaded behind the address sanitizer: with it Debian 12's C library waits for ever for the lock of its locales, in setlocale() at
 * the start of code_saturne's cs_solver, and in freelocale() at the end of libp11-kit, which PETSc's libraries bring along. No test
 * needs another locale than "C". */
#include <locale.h>

char* setlocale(int category, const char* locale) {
  static char name[] = "C";
  (void)category;
  (void)locale;
  return name;
}
void freelocale(locale_t locale) { (void)locale; }
