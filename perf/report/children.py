"""Programs with a time limit, which leave no process behind: not when they hang, nor when we are interrupted."""

import contextlib
import itertools
import os
import pathlib
import signal
import subprocess
import time

MARK = "CAPSTAN_BENCH_RUN"  # in the environment of all that a run starts; MPICH's ranks are not even in one session
NUMBERS = itertools.count()
GRACE = 5.0  # seconds in which a launcher that was asked to end may end its ranks; then all of them are killed


def take_signals_like_ctrl_c():
    """SIGTERM (timeout, a batch system) and SIGHUP (a closed terminal) raise KeyboardInterrupt too, so that children are
    ended: in a session of their own they get neither signal by themselves."""
    def interrupt(*_):
        raise KeyboardInterrupt
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, interrupt)


def run(command, timeout, env=None, **how):
    """Exit status of a program; None where it was ended because it took longer than `timeout` seconds. how: of Popen; output
    wants a file, since a pipe stays open as long as any rank that hangs."""
    mark = f"{os.getpid()}.{next(NUMBERS)}"
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                               env={**(os.environ if env is None else env), MARK: mark}, **how)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end(process, f"{MARK}={mark}".encode())


def _living(mark):
    """The processes with this in their environment. Those that have ended, and only wait to be asked for their status, have
    none."""
    living = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # another user's, or gone
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                living.append(int(entry.name))
    return living


def _end(process, mark):
    """Ends what is left of a program and of what it has started. A second Ctrl-C has to wait for that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        process.terminate()  # does nothing where it has ended; a launcher ends its ranks, which it cannot where it is killed
        deadline = time.monotonic() + GRACE
        while (living := _living(mark)) and time.monotonic() < deadline + GRACE:
            if time.monotonic() >= deadline:
                for pid in living:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            process.poll()
            time.sleep(0.02)
        process.kill()  # for systems without /proc
        process.wait()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
