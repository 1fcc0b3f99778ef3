"""scripts/gpu-check, the call that a machine with a GPU gets.

Every part runs on the emulation, with stand-ins for NVIDIA's tools.
"""

import os
import subprocess
import tarfile
import unittest

from lamina_cli import SOURCE, CliTest, main

EMULATED = os.environ.get("LAMINA_EMULATED_CUDA", "")


@unittest.skipUnless(EMULATED, "no emulated GPU in this build")
class GpuCheckTest(CliTest):
    def check(self, *arguments, **environment):
        os.makedirs(self.path("copies"), exist_ok=True)
        done = subprocess.run([os.path.join(SOURCE, "scripts", "gpu-check"), "--dry-run", "--copy-to", self.path("copies"), *arguments, self.path("results")],
                              capture_output=True, text=True, env={**os.environ, **environment}, timeout=600)
        with tarfile.open(self.path("copies/results.tar.gz")) as archive:
            self.assertIn("results/summary.txt", archive.getnames())
        with open(self.path("results/summary.txt"), encoding="utf-8") as file:
            return done, file.read()

    def test_every_part_runs_and_ends(self):
        done, summary = self.check()
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-1000:])
        self.assertNotIn("FAILED", summary)
        for step in ("smoke-wgmma", "layers-l1", "train-in-one-kernel", "mnist-98-second", "tests", "ncu-network", "tune", "synccheck", "train-resumed", "variants-second", "rfm-60-cuda"):
            self.assertRegex(summary, rf"(?m)^{step} +\d+ s  ok$")
        self.assertIn("a layer in slices: the same bits", summary)
        self.assertIn("killed and resumed: the same bits", summary)

    def test_a_tool_that_hangs_is_killed_and_the_archive_is_there(self):
        done, summary = self.check("--part", "b", LAMINA_TOOLS_HANG="ncu", LAMINA_GPU_CHECK_SECONDS="5")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(summary, r"ncu-l1-identity-f32-forward\S+ +\d+ s  FAILED \((124|137)\)")
        self.assertIn("NOT RUN: the time of this part is over", summary)

    def test_wrong_flags_are_refused(self):
        for arguments, said in ((["--part", "a,d"], "--part takes smoke, t, a, b, c, v and m"), (["--fast"], "--fast: unknown flag"),
                                (["--copy-to", "/no/folder"], "--copy-to: there is no folder")):
            done = subprocess.run([os.path.join(SOURCE, "scripts", "gpu-check"), *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    main()
