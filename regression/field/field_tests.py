"""Cases from the field, or parts of them, that tests of the build do."""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys

from field_report import Done

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Programs of the build, and which of their tests; a script of the source, with the build's programs that it is given.
ENDINGS = ("adapters/plugin/test/test_endings_app.py", ["test/endings_app_plain", "test/endings_app_linked", "lib/libcapstan.so"])
TESTS = {
    "B01": [("solvers_test", "*/TimeSteps.OfOneSolverAreThoseOfANewOne/*")],
    "B03": [("solvers_test", "*/Applications.*")],
    "B05": [ENDINGS],
    "B07": [("solvers_test", "*/UserTests.*:*/Watching.*:*/CurrentIterate.*")],
    "B09": [("solvers_test", "*/Interface.Maximum*:*/RestartLength.*")],
    "B11": [("solvers_test", "*/RightHandSides.ExceptionsOfTheOperatorReachTheApplication/*"),
            ("solver_progress_test", "*/Pipelined.AnExceptionOfTheOperatorMidFlightLeavesNothingBehind/*")],
    "B13": [("solvers_test", "*/Interface.SetParametersKeepsWhatIsNotNamed/*:*/Interface.ToleranceMayChangeBeforeEverySolve/*:"
                             "*/Interface.ResetOfTheProblemKeepsTheSolverUsable/*")],
    "B15": [("solvers_test", "*/TimeSteps.OfOtherLengthsCostNoIterations/*"),
            ("solver_guess_test", "*/GuessChanges.OtherValuesOfTheMatrixDoNoHarm/*")],
    # A preconditioner given as a matrix; a communicator without the first rank.
    "G06": [("field_cases_test", "*/FieldCase.G06/*")],
    "R01": [("field_cases_test", "*/FieldCase.R01/*")],
}


def passed_of(text, wanted):
    """How many tests of GoogleTest passed, from what a program prints, and the patterns of `wanted` of which none did. Those that were
    skipped did not."""
    good = re.findall(r"\[       OK \] (\S+)", text)
    return len(good), [pattern for pattern in wanted.split(":") if not any(fnmatch.fnmatchcase(name, pattern) for name in good)]


def command_of(choices, program, wanted, ranks):
    if program.endswith(".py"):
        return [sys.executable, SOURCE / program, *(choices.build / name for name in wanted), "mpirun", "-np", ranks]
    return ["mpirun", "--oversubscribe", "-np", ranks, choices.build / "test" / program, f"--gtest_filter={wanted}"]


def run(choices, name, ranks):
    """The tests that do what a case says, on so many ranks."""
    done = Done()
    for program, wanted in TESTS[name]:
        command = [str(word) for word in command_of(choices, program, wanted, ranks)]
        try:
            process = subprocess.run(command, cwd=choices.build, timeout=choices.timeout, capture_output=True, text=True, check=False,
                                     env={**os.environ, "CAPSTAN_FIELD_CASES": str(choices.cases), "GTEST_COLOR": "no"})
        except subprocess.TimeoutExpired:
            done.problems.append(f"{program}: no end after {choices.timeout:g} s")
            continue
        if program.endswith(".py"):
            ran = re.search(r"^Ran (\d+) test", process.stderr, re.MULTILINE)
            passed, missing = (int(ran[1]) if ran and process.returncode == 0 else 0), []
            failed = re.findall(r"^(?:FAIL|ERROR): (.*)$", process.stderr, re.MULTILINE)
        else:
            passed, missing = passed_of(process.stdout, wanted)
            failed = sorted(set(re.findall(r"\[  FAILED  \] (\S+/\S+?),? ", process.stdout)))
        done.good, done.total = done.good + passed, done.total + passed + len(failed)
        done.problems += [f"{program}: {test} fails" for test in failed] + [f"{program}: no test {name} passes" for name in missing]
        if passed == 0 or (process.returncode != 0 and not failed):
            done.problems.append(f"{program}: {passed} tests pass, exit status {process.returncode}")
    return done
