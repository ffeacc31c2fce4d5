"""Runs a program on a machine that others may be using: waits for quiet, and says how much of the time others took."""
import os
import resource
import subprocess
import time


def busy_seconds():
    """Processor seconds that all processes of the machine have used, and those stolen from it."""
    ticks = os.sysconf("SC_CLK_TCK")
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / ticks


def own_seconds():
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def wait_until_quiet(seconds, window=1.0, limit=0.1):
    """Waits at most `seconds` for a window in which others use less than `limit` processors; says whether it came."""
    end = time.monotonic() + seconds
    while True:
        before = busy_seconds()
        time.sleep(window)
        if (busy_seconds() - before) / window < limit:
            return True
        if time.monotonic() >= end:
            return False


class Run:
    def __init__(self, stdout, seconds, first_output_seconds, others):
        self.stdout, self.seconds, self.first_output_seconds = stdout, seconds, first_output_seconds
        self.others = others  # processors that others kept busy meanwhile, on average


def run(command, timeout=600):
    """Runs a command to its end; raises RuntimeError with its messages when it fails."""
    busy, own, start = busy_seconds(), own_seconds(), time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               bufsize=0)
    first = process.stdout.read(1)
    first_output = time.monotonic() - start
    rest, messages = process.communicate(timeout=timeout)
    seconds = time.monotonic() - start
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}\n{messages.decode(errors='replace')[-2000:]}")
    others = max(0.0, (busy_seconds() - busy) - (own_seconds() - own)) / seconds
    return Run((first + rest).decode(errors="replace"), seconds, first_output, others)


def run_quietly(command, patience, tolerated=0.15, attempts=8):
    """A run that others disturbed little; after `attempts` the least disturbed one."""
    best = None
    for _ in range(attempts if patience > 0 else 1):
        if patience > 0:
            wait_until_quiet(patience)
        result = run(command)
        if best is None or result.others < best.others:
            best = result
        if best.others <= tolerated:
            break
    return best
