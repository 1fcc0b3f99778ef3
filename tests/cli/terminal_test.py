"""What training prints on a terminal, into a pipe, with --quiet, and into a pipe that closes."""

import json
import os
import pty
import re
import select
import subprocess
import time
import unittest

from lamina_cli import DIGITS, PROGRAM, CliTest, TIME_LIMIT_SECONDS, main

TRAIN = ["train", "--data", DIGITS, "--hidden", "24", "--epochs", "3"]
EPOCH_LINE = re.compile(r"^epoch (\d+)/3  loss [\d.e+-]+ \([\d.]+ %\)  validation [\d.e+-]+ \([\d.]+ %\)  [\d,]+ samples/s$")


def has_terminals():
    """Whether the system gives pseudo-terminals: a chroot without /dev/pts has none."""
    try:
        descriptors = pty.openpty()
    except OSError:
        return False
    for descriptor in descriptors:
        os.close(descriptor)
    return True


@unittest.skipUnless(has_terminals(), "terminal: the system gives no pseudo-terminal")
class TerminalTest(CliTest):
    def on_terminal(self, *arguments, columns=120, interrupt_after=None, hang_up_after=None, **variables):
        """(exit code, everything a terminal of that width was sent). Ctrl-C is typed when `interrupt_after` was seen.
        The terminal vanishes, as a connection that breaks, when `hang_up_after` was seen."""
        master, slave = pty.openpty()
        import fcntl, struct, termios  # pylint: disable=multiple-imports,import-outside-toplevel
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        modes = termios.tcgetattr(slave)
        modes[3] |= termios.NOFLSH  # a typed Ctrl-C would throw away output on its way: what erases the bar, say
        termios.tcsetattr(slave, termios.TCSANOW, modes)

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **variables}
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=slave, stdout=slave, stderr=slave, env=environment,
                                   preexec_fn=own_terminal)
        os.close(slave)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        text = b""
        end = time.monotonic() + TIME_LIMIT_SECONDS
        while time.monotonic() < end:
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                text += os.read(master, 65536)
            except OSError:  # closed at the other end
                break
            if interrupt_after and interrupt_after.encode() in text:
                os.write(master, b"\x03")
                interrupt_after = None
            if hang_up_after and hang_up_after.encode() in text:
                break
        os.close(master)
        return process.wait(timeout=TIME_LIMIT_SECONDS), text.decode(errors="backslashreplace")

    @staticmethod
    def visible(text):
        """The lines that stay on the screen."""
        lines = []
        for line in text.replace("\r\n", "\n").split("\n"):
            lines.append(line.split("\r\033[K")[-1])
        return lines

    def test_progress_bar(self):
        code, text = self.on_terminal(*TRAIN)
        self.assertEqual(code, 0, text)
        bars = re.findall(r"\r\033\[K(epoch[^\r\n]*)", text)
        shape = r"^epoch \d+/3 \[#*\.*\] loss [\d.e+-]+ \([\d.]+ %\)  [\d,]+ samples/s  [\d.:]+( m?s)? left$"
        self.assertTrue([bar for bar in bars if re.match(shape, bar)], bars)
        lines = self.visible(text)
        self.assertEqual(sum(bool(EPOCH_LINE.match(line)) for line in lines), 3, lines)
        self.assertFalse([line for line in lines if "left" in line or "\033" in line or "[#" in line], lines)

    def test_narrow_terminal_is_not_overrun(self):
        _, text = self.on_terminal(*TRAIN, columns=40)
        for bar in re.findall(r"\r\033\[K(epoch[^\r\n]*\.\][^\r\n]*)", text):
            self.assertLess(len(bar), 40)

    def test_control_c_erases_the_bar(self):
        code, text = self.on_terminal(*TRAIN[:-1], "1000000", "--model", "m.safetensors", interrupt_after="epoch 3/")
        self.assertEqual(code, 130, text)
        last = self.visible(text)[-2]
        self.assertIn("lamina: interrupted", last)
        self.assertIn("--resume m.safetensors.checkpoint", last)
        self.assertFalse([line for line in self.visible(text) if " left" in line])

    def test_a_terminal_that_is_gone_leaves_the_checkpoint(self):
        code, text = self.on_terminal(*TRAIN[:-1], "1000000", "--model", "m.safetensors", hang_up_after="epoch 3/")
        self.assertEqual(code, 130, text)
        self.assertEqual(list(self.snapshot()), ["m.safetensors.checkpoint"], "nor a lock")
        self.train("--resume", "m.safetensors.checkpoint", "--epochs", "1")

    def test_error_message_stands_on_a_line_of_its_own(self):
        code, text = self.on_terminal(*TRAIN, "--optimizer", "sgd", "--learning-rate", "1e30", "--loss", "mse",
                                      "--output-activation", "identity")
        self.assertEqual(code, 1, text)
        self.assertTrue(self.visible(text)[-2].startswith("lamina: error: training diverged"), self.visible(text))

    def test_colours_where_they_are_wanted(self):
        red = "\033[1;31mlamina: error:\033[0m no.csv"
        self.assertIn(red, self.on_terminal("train", "no.csv", NO_COLOR="")[1])
        for variables in ({}, {"NO_COLOR": "", "TERM": "dumb"}):
            self.assertIn("\r\nlamina: error: no.csv", "\r\n" + self.on_terminal("train", "no.csv", **variables)[1])
        self.assertIn("\033[1mData\033[0m:", self.on_terminal("train", "--help", NO_COLOR="")[1])

    def test_quiet_on_a_terminal(self):
        self.assertEqual(self.on_terminal(*TRAIN, "--quiet"), (0, ""))


class PipeTest(CliTest):
    def test_one_plain_line_an_epoch(self):
        text = self.succeed(*TRAIN, "--model", "m.safetensors").out
        self.assertNotIn("\033", text)
        self.assertNotIn("\r", text)
        lines = text.splitlines()
        found = [EPOCH_LINE.match(line).group(1) for line in lines if line.startswith("epoch")]
        self.assertEqual(found, ["1", "2", "3"], text)
        lines = [line for line in lines if not line.startswith("note: ")]
        self.assertEqual(len(lines), 8, text)  # data, network, the epochs, summary, test, what was written
        self.assertIn("1,078 training, 360 validation and 359 test rows", lines[0])
        self.assertIn("64-24-10", lines[1])
        self.assertIn("wrote m.safetensors", lines[-1])

    def test_lines_come_as_the_epochs_end(self):
        process = self.start(*TRAIN[:-1], "1000000")
        for _ in range(5):
            self.assertTrue(process.stdout.readline())
        self.assertIsNone(process.poll())

    def test_quiet(self):
        self.train(*TRAIN[1:], "--model", "m.safetensors")
        self.train(*TRAIN[1:], "--json", "r.json")
        self.assertEqual(self.read_json("r.json")["command"], "train")

    def test_pure_json_on_standard_output(self):
        for command in (TRAIN, ["devices"], ["data", "show", DIGITS]):
            result = json.loads(self.succeed(*command, "--json", "-").out)
            self.assertEqual(result["command"], " ".join(command[:2] if command[0] == "data" else command[:1]))
            self.assertIn("lamina_version", result)

    def test_a_reader_that_leaves(self):
        self.train(*TRAIN[1:], "--model", "m.safetensors")
        for command in (TRAIN, ["predict", "--model", "m.safetensors", "--data", DIGITS, "--probabilities"],
                        ["train", "--help"], ["train", "--print-config"], ["devices"], ["data", "show", DIGITS]):
            with self.subTest(command=command[0]):
                process = self.start(*command)
                process.stdout.readline()
                process.stdout.close()
                process.wait(timeout=TIME_LIMIT_SECONDS)
                self.assertIn(process.returncode, (0, 1, -13), process.stderr.read())
                self.assertNoPartFiles()

    @unittest.skipUnless(os.path.exists("/dev/full"), "full standard output: no /dev/full")
    def test_full_standard_output_is_a_failure(self):
        self.train(*TRAIN[1:], "--model", "m.safetensors")
        for command in (["predict", "--model", "m.safetensors", "--data", DIGITS], ["devices", "--json", "-"], ["devices"],
                        ["evaluate", "--model", "m.safetensors", "--data", DIGITS], ["train", "--print-config"],
                        ["--version"], ["--help"]):
            with self.subTest(command=command), open("/dev/full", "w") as full:
                result = self.run_program(*command, stdout=full)
                self.assertEqual(result.code, 1, result.err)
                self.assertIn("standard output", result.err)

    def test_closed_standard_output(self):
        self.train(*TRAIN[1:], "--model", "m.safetensors")
        script = '"$0" "$@" >&-'
        process = subprocess.run(["sh", "-c", script, PROGRAM, "predict", "--model", "m.safetensors", "--data", DIGITS],
                                 cwd=self.folder, capture_output=True, text=True, timeout=TIME_LIMIT_SECONDS)
        self.assertEqual(process.returncode, 1, process.stderr)


if __name__ == "__main__":
    main()
