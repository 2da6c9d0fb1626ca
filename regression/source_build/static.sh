# What a program with a static Trilinos does, beside one that Capstan is preloaded into. Sourced by prove.sh, which sets `root`,
# `work`, `prefix`, `jobs`, `report` and `werror`, and has the functions `say`, `die` and `quietly`.
# shellcheck shell=bash disable=SC2154

# build_consumer <name> <folder of Trilinos' package>: regression/consumer, with the Capstan that <name>-capstan holds.
build_consumer() {
  local name=$1 trilinos=$2
  rm -rf "$work/$name-consumer"
  quietly "$name-consumer-configure.log" cmake -G Ninja -S "$root/regression/consumer" -B "$work/$name-consumer" \
    "-DCMAKE_PREFIX_PATH=$work/$name-capstan" "-DTrilinos_DIR=$trilinos"
  quietly "$name-consumer-build.log" ninja -C "$work/$name-consumer" -j "$jobs"
}

# The Capstan that is preloaded, with the shared Trilinos that CMake finds: the system's. Sets `shared_trilinos`.
build_shared_capstan() {
  local build=$work/build-shared
  say "building libcapstan.so with the system's Trilinos"
  quietly shared-configure.log cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCAPSTAN_LIBRARY_ONLY=ON \
    -DCMAKE_INSTALL_LIBDIR=lib -DCAPSTAN_BENCHMARKS=OFF -DBUILD_TESTING=OFF -DBUILD_SHARED_LIBS=ON "-DCAPSTAN_WERROR=$werror"
  quietly shared-build.log ninja -C "$build" -j "$jobs" capstan_products
  quietly shared-install.log cmake --install "$build" --prefix "$work/shared-capstan"
  shared_trilinos=$(sed -n 's/^Trilinos_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")
}

# refused <words> <program>: what `capstan preload` says of a program that it cannot reach.
refused() {
  local said=""
  ! said=$("$work/shared-capstan/bin/capstan" preload -- mpirun -np 1 "$2" 2>&1) || die "capstan preload started $2"
  [[ $said == *"$1"* ]] || die "of $2 capstan preload said: $said"
  say "capstan preload: ${said%%$'\n'*}"
}

# preloaded_all_the_same <what is said> <program> <exit status>: what libcapstan_preload.so says in it, and that it goes on.
preloaded_all_the_same() {
  local said status=0
  said=$(LD_PRELOAD=$work/shared-capstan/lib/libcapstan_preload.so "$2" 2>&1 >/dev/null) || status=$?
  [[ $status -eq $3 && $said == "$1"* && (-n $1 || -z $said) ]] ||
    die "with libcapstan_preload.so $2 ended with $status and said: $said"
  say "libcapstan_preload.so in ${2##*/}: ${said:-nothing}"
}

# iterations <log> <command...>: the lines about solves that all_names.cpp prints.
iterations() {
  local log=$1
  quietly "$@" >/dev/null
  grep -E ' iterations$' "$work/log/$log" || die "no solves in $work/log/$log"
}

compare_with_preloaded() {
  local program=$work/static-consumer/all_names n linked preloaded libraries names
  quietly static-install.log cmake --install "$work/build-capstan" --prefix "$work/static-capstan"
  [[ -z $(find "$work/static-capstan" -name 'libcapstan.so*') ]] || die "there is a libcapstan.so, which would bring a second Trilinos"
  build_consumer static "$prefix/lib/cmake/Trilinos"
  build_shared_capstan
  build_consumer shared "$shared_trilinos"
  libraries=$(ldd "$program")
  ! grep -E 'lib(trilinos_|belos|tpetra|teuchos|kokkos|capstan)' <<<"$libraries" || die "$program is not linked statically"
  # Its own names are none: it is Capstan that brings them.
  names=$("${program}_plain" 2>&1) || true
  [[ $names == "0 names" ]] || die "without Capstan the program said: $names"
  refused "Belos is linked into" "${program}_plain"
  refused "Capstan is linked into" "$program"
  preloaded_all_the_same "Capstan: Belos is linked into this program statically" "${program}_plain" 1
  preloaded_all_the_same "" "$program" 0
  for n in 1 2; do
    linked=$(iterations "names-static.np$n.log" mpirun -np "$n" "$program") || exit 1
    preloaded=$(iterations "names-preloaded.np$n.log" "$work/shared-capstan/bin/capstan" preload -- \
      mpirun -np "$n" "$work/shared-consumer/all_names_plain") || exit 1
    diff <(echo "$linked") <(echo "$preloaded") || die "$n ranks: other iterations (<: linked, static; >: preloaded)"
    say "$n ranks, linked with a static Trilinos and preloaded: the same in each of these lines"
    echo "$linked" | tee -a "$report"
  done
}
