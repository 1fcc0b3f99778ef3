#!/usr/bin/env python3
"""Usage: search_workers.py PROGRAM [--starts N] [--workers N] [--seed N]: workers share a search and come and go.

They share the folder of one search, and there are N starts in all. Each time that a name in the folder changes, one of
them may be ended, by Ctrl-C, SIGTERM, SIGHUP or SIGKILL. Or it is stopped and goes on later, as after a long sleep.
Another one takes its place. When the search is done another one begins.

Whoever was not ended by force ends well. All print the ranking that one process alone prints, and a last worker leaves
nothing but search.json. Nothing waits for a time: a slow machine takes longer. Exit status 1 at the first worker for
which this is not so.
"""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TABLE = "a,b,y\n" + "".join(f"{i % 7},{i % 5 - 2},{i % 3}\n" for i in range(300))
SEARCH = ("search", "--data", "t.csv", "--recipe", "plain", "--hidden", "8", "--vary", "learning-rate=0.003,0.01,0.03,0.1", "--vary",
          "hidden=4|8", "--epochs", "12", "--batch", "16", "--threads", "1", "--json", "-")
# What happens to a worker, as often as it stands here, and the exit status that it may have then beside 0.
FATES = {signal.SIGINT: (2, 130), signal.SIGTERM: (1, 130), signal.SIGHUP: (1, 130), signal.SIGKILL: (4, -signal.SIGKILL),
         signal.SIGSTOP: (2, 0)}
MOST_PER_ROUND = 60  # workers of one search
END_SECONDS = 1200  # of a round without an end: something hangs


class Broken(Exception):
    pass


class Worker:
    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, *SEARCH, "--state", "state"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, "LAMINA_TUNE": "off"})
        self.may_end_with = {0}
        self.stopped = False

    def meet(self, fate):
        self.process.send_signal(fate)
        self.may_end_with.add(FATES[fate][1])
        # A signal before the handler is there has its usual effect.
        self.may_end_with.add(-fate if fate in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) else 0)
        self.stopped = fate == signal.SIGSTOP

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        self.stopped = False

    def has_ended(self):
        return self.process.poll() is not None

    def ranking(self):
        """What one that has ended well printed, else None."""
        out, err = self.process.communicate(timeout=END_SECONDS)
        if self.process.returncode not in self.may_end_with:
            raise Broken(f"a worker ended with {self.process.returncode}: {err.decode(errors='replace')}")
        return outcome(out) if self.process.returncode == 0 else None

    def kill(self):
        self.process.kill()
        self.process.communicate()


def outcome(out):
    """What does not depend on the clock."""
    return [{key: value for key, value in trial.items() if key != "seconds"} for trial in json.loads(out)["trials"]]


def alone(program, folder):
    worker = Worker(program, folder)
    try:
        ranking = worker.ranking()
    finally:
        worker.kill()
    left = os.listdir(os.path.join(folder, "state"))
    if left != ["search.json"]:
        raise Broken(f"a worker that ended alone left {left}")
    return ranking


def names_of(folder):
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:  # no worker has made it yet
        return []


class Round:
    """One search from its first worker to its last."""

    def __init__(self, program, folder, source, expected):
        self.program, self.folder, self.source, self.expected = program, folder, source, expected
        self.state = os.path.join(folder, "state")
        self.workers, self.starts, self.fates, self.done = [], 0, collections.Counter(), False
        self.names = []

    def start(self):
        self.workers.append(Worker(self.program, self.folder))
        self.starts += 1

    def collect(self):
        for worker in [worker for worker in self.workers if worker.has_ended()]:
            self.workers.remove(worker)
            ranking = worker.ranking()
            if ranking is not None:
                self.done = True
                if ranking != self.expected:
                    raise Broken(f"a worker prints {ranking}\nand one alone {self.expected}")

    def disturb(self):
        """Ends a worker, or lets one that is stopped go on, where the folder has changed."""
        names = names_of(self.state)
        if names == self.names:  # all may wait for the trial of one that is stopped
            for worker in self.workers:
                if worker.stopped and self.source.random() < 0.01:
                    worker.go_on()
            return
        self.names = names
        worker = self.source.choice(self.workers)
        if worker.stopped:
            worker.go_on()
        elif self.source.random() < 0.5:
            fate = self.source.choice([fate for fate, (times, _) in FATES.items() for _ in range(times)])
            worker.meet(fate)
            self.fates[fate] += 1

    def run(self, workers, starts):
        """At most `starts` workers, `workers` at a time; how many there were."""
        deadline = time.monotonic() + END_SECONDS
        try:
            while self.workers or not self.done:
                while len(self.workers) < workers and self.starts < starts and not self.done:
                    self.start()
                self.collect()
                if self.starts < starts and not self.done and self.workers:
                    self.disturb()
                elif all(worker.stopped for worker in self.workers) or self.done or self.starts >= starts:
                    for worker in self.workers:
                        worker.go_on()
                if not self.workers and not self.done:  # all were ended, and no more may come
                    break
                if time.monotonic() > deadline:
                    raise Broken(f"{len(self.workers)} workers do not end; the folder has {names_of(self.state)}")
                time.sleep(0.0005)
            if alone(self.program, self.folder) != self.expected:
                raise Broken("the last worker prints another ranking")
        finally:
            for worker in self.workers:
                worker.kill()
        return self.starts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--starts", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    source = random.Random(options.seed)
    folder = tempfile.mkdtemp(prefix="lamina-workers-")
    starts, rounds, fates = 0, 0, collections.Counter()
    try:
        with open(os.path.join(folder, "t.csv"), "w", encoding="ascii") as file:
            file.write(TABLE)
        expected = alone(program, folder)
        while starts < options.starts:
            shutil.rmtree(os.path.join(folder, "state"))
            one = Round(program, folder, source, expected)
            starts += one.run(options.workers, min(MOST_PER_ROUND, options.starts - starts))
            rounds += 1
            fates += one.fates
    except Broken as broken:
        print(f"after {starts} starts, {rounds} searches: {broken}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    counts = ", ".join(f"{fates[fate]} {fate.name}" for fate in FATES)
    print(f"{starts} workers in {rounds} searches: {counts}; every ranking as of one worker, nothing left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
