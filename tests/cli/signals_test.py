"""Signals that ask a run to end: once, twice at once, and for good. They meet a run that waits for a reader of its
checkpoint, a pipe, for as long as the test wants. So nothing here depends on how quick anybody is."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time
import unittest

from lamina_cli import DIGITS, TIME_LIMIT_SECONDS, CliTest, is_deaf, main, read_safetensors

MODEL, PIPE = "m.safetensors", "pipe"
LOCK = MODEL + ".lamina-lock"
RUN = ["--data", DIGITS, "--hidden", "16", "--epochs", "3", "--threads", "1", "--backend", "cpu", "--model", MODEL]


def status(process, field):
    """A field of /proc/PID/status, signals as a number with a bit each."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(next(line.split()[1] for line in file if line.startswith(field + ":")), 16)


def file_size(content):
    """The size of the safetensors file that `content` begins with."""
    (length,) = struct.unpack("<Q", content[:8])
    tensors = [entry for name, entry in json.loads(content[8 : 8 + length]).items() if name != "__metadata__"]
    return 8 + length + max(entry["data_offsets"][1] for entry in tensors)


class SignalsTest(CliTest):
    def wait_until(self, reached, what):
        end = time.monotonic() + TIME_LIMIT_SECONDS
        while not reached():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.001)

    def waiting(self, **options):
        """A run that holds its lock, catches signals, and cannot end before somebody reads its checkpoint."""
        for name in os.listdir(self.folder):
            os.remove(self.path(name))
        os.mkfifo(self.path(PIPE))
        process = self.start("train", "--quiet", *RUN, "--checkpoint", PIPE, "--checkpoint-epochs", "1", **options)
        self.wait_until(lambda: os.path.exists(self.path(LOCK)) and not is_deaf(process), "no run")
        return process

    def send(self, process, number):
        """The signal, until it has come: of two of a kind that wait, a process sees one."""
        process.send_signal(number)
        self.wait_until(lambda: process.poll() is not None or not (status(process, "ShdPnd") | status(process, "SigPnd")),
                        "the signal does not come")

    def checkpoint(self, process):
        """Ends the run by reading what it keeps: the last of the checkpoints that it writes."""
        content = b""
        pipe = os.open(self.path(PIPE), os.O_RDONLY | os.O_NONBLOCK)

        def ended():
            nonlocal content
            over = process.poll() is not None  # first: then nothing comes behind what is read
            try:
                while piece := os.read(pipe, 1 << 16):
                    content += piece
            except BlockingIOError:
                pass
            return over

        self.wait_until(ended, "the run does not end")
        os.close(pipe)
        while (size := file_size(content)) < len(content):
            content = content[size:]
        result = self.finish(process)
        os.remove(self.path(PIPE))
        self.assertEqual(result.code, 130, str(result))
        self.assertEqual(list(self.snapshot()), [], "a lock, or a part of a file, is left")
        self.assertIn("lamina_checkpoint", read_safetensors(content)[0])
        return self.write("kept", content)

    def test_one_signal_or_two_keep_the_checkpoint(self):
        self.train(*RUN)
        whole = read_safetensors(self.read(MODEL, "rb"))[1]
        os.remove(self.path(MODEL))
        for numbers in ([signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGXCPU], [signal.SIGINT] * 2,
                        [signal.SIGTERM, signal.SIGHUP], [signal.SIGHUP, signal.SIGHUP]):
            with self.subTest(numbers=numbers):
                process = self.waiting()
                for number in numbers:
                    self.send(process, number)
                    self.assertIsNone(process.poll())
                kept = self.checkpoint(process)
                self.train("--resume", kept, "--checkpoint", kept, "--model", MODEL)
                self.assertEqual(read_safetensors(self.read(MODEL, "rb"))[1], whole)
                os.remove(self.path(MODEL))
                os.remove(self.path(kept))

    def test_the_third_ends_at_once(self):
        for numbers in ([signal.SIGINT] * 3, [signal.SIGINT, signal.SIGINT, signal.SIGTERM],
                        [signal.SIGTERM, signal.SIGTERM, signal.SIGHUP]):
            with self.subTest(numbers=numbers):
                process = self.waiting()
                for number in numbers[:2]:
                    self.send(process, number)
                    self.assertIsNone(process.poll())
                process.send_signal(numbers[2])
                self.assertEqual(self.finish(process).code, -numbers[2])
                os.remove(self.path(PIPE))
                self.assertEqual(list(self.snapshot()), [], "a lock, or a part of a file, is left")

    def test_nohup_outlives_the_terminal(self):
        process = self.waiting(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        for _ in range(3):
            self.send(process, signal.SIGHUP)
        self.assertTrue(status(process, "SigIgn") & 1 << (signal.SIGHUP - 1))
        self.send(process, signal.SIGINT)
        self.checkpoint(process)

    def test_who_reads_the_output_may_end_first(self):
        os.mkfifo(self.path(PIPE))
        process = self.start("train", *RUN, "--checkpoint", PIPE, "--checkpoint-epochs", "1", stderr=subprocess.DEVNULL)
        self.wait_until(lambda: os.path.exists(self.path(LOCK)) and not is_deaf(process), "no run")
        self.send(process, signal.SIGHUP)
        process.stdout.close()
        process.stdout = None
        self.checkpoint(process)

    def test_a_full_pipe_that_nobody_reads_does_not_hold_up_the_first(self):
        for stream in ("stdout", "stderr"):
            with self.subTest(stream=stream):
                reads, writes = os.pipe()
                fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
                os.write(writes, bytes(4096 if stream == "stderr" else 3800))  # on stderr no line goes before the end
                options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: writes}
                process = self.start("train", *RUN, "--epochs", "1000000", **options)
                os.close(writes)

                def is_full():
                    held = struct.unpack("i", fcntl.ioctl(reads, termios.FIONREAD, bytes(4)))[0]
                    return process.poll() is not None or (held > 4096 - 200 and not is_deaf(process) and os.path.exists(self.path(LOCK)))

                self.wait_until(is_full, "the pipe is not full")
                self.send(process, signal.SIGINT)
                self.wait_until(lambda: process.poll() is not None, "a run that waits for a reader does not end")
                os.close(reads)
                self.assertEqual(process.returncode, 130)
                self.assertEqual(list(self.snapshot()), [MODEL + ".checkpoint"])
                os.remove(self.path(MODEL + ".checkpoint"))

    def test_what_measures_or_counts_hears_of_it(self):
        """Each would take minutes; the part that is begun when the signal comes takes a moment."""
        rows, columns = 30000, 200
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117) + "\n"
        values = struct.pack("<1000f", *(i * 0.618 % 1 for i in range(1000)))
        self.write("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + values * (rows * columns // 1000))
        for arguments in (("bench", "train", "--net", "8-4-2", "--batch", "4", "--rounds", "1000"),
                          ("bench", "predict", "--net", "8-4-2", "--seconds", "3600"),
                          ("bench", "predict", "--net", "8-4-2", "--threads", "2", "--seconds", "3600"),
                          ("centres", "--x", "x.npy", "--count", "3000", "--iterations", "1", "--threads", "1", "--out", "o.npy")):
            with self.subTest(command=arguments):
                process = self.start(*arguments, "--json", "o.json", stdout=subprocess.DEVNULL)
                self.wait_until(lambda runs=process: not is_deaf(runs), "no run")
                self.send(process, signal.SIGINT)
                result = self.finish(process)
                self.assertEqual(result.code, 130, str(result))
                self.assertEqual(list(self.snapshot()), ["x.npy"])

    def test_a_run_whose_output_nobody_reads_leaves_nothing(self):
        os.mkfifo(self.path(PIPE))
        process = self.start("train", *RUN, "--checkpoint", PIPE, "--checkpoint-epochs", "1", stderr=subprocess.DEVNULL)
        self.wait_until(lambda: os.path.exists(self.path(LOCK)) and not is_deaf(process), "no run")
        process.stdout.close()
        process.stdout = None
        pipe = os.open(self.path(PIPE), os.O_RDONLY | os.O_NONBLOCK)

        def ended():
            over = process.poll() is not None
            try:
                while os.read(pipe, 1 << 16):
                    pass
            except BlockingIOError:
                pass
            return over

        self.wait_until(ended, "the run does not end")
        os.close(pipe)
        os.remove(self.path(PIPE))
        self.assertEqual(process.returncode, -signal.SIGPIPE)
        self.assertEqual(list(self.snapshot()), [], "a lock, or a part of a file, is left")


if __name__ == "__main__":
    main()
