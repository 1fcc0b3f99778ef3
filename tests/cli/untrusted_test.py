"""Files of strangers: each kind against each thing that it could try, which SECURITY.md says it cannot."""

import json
import os
import resource
import struct

from lamina_cli import CliTest, blob_rows, main, write_safetensors

MINE = b"a person's"
TRAIN = ("--data", "t.csv", "--epochs", "2", "--threads", "1", "--hidden", "3")
# What decides where a training writes, as a stranger's file would say it; each with a flag that says no.
WRITES = {"model": "victim", "history": "victim", "history-json": "victim", "checkpoint": "victim", "out-of-fold": "victim",
          "overwrite": True}


def flag(name, value):
    return f"--{name}" if value is True else f"--{name} {value}"


class UntrustedTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("t.csv", blob_rows(60))
        self.write("victim", MINE)

    def rewritten(self, name, target, change):
        """A copy of a safetensors file with settings that `change` has changed, without a checksum, as strangers do."""
        content = self.read(name, "rb")
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        metadata = header.pop("__metadata__")
        recipe = json.loads(metadata["lamina"])
        change(recipe)
        metadata["lamina"] = json.dumps(recipe)
        self.write(target, write_safetensors(metadata, header, content[8 + length :]))
        return target

    def checkpoint(self, **settings):
        if not os.path.exists(self.path("own.checkpoint")):
            self.train(*TRAIN, "--epochs", "4", "--checkpoint-epochs", "2", "--model", "own")
        return self.rewritten("own.checkpoint", "evil.ck",
                              lambda recipe: recipe["training"]["settings"].update({"model": "", "checkpoint-epochs": 0, **settings}))

    def assertUntouched(self):
        self.assertEqual(self.read("victim", "rb"), MINE)
        self.assertFalse(os.path.exists(self.path("planted")))

    # Writing elsewhere, and over what is there.

    def test_checkpoints_do_not_say_where_to_write(self):
        for name, value in WRITES.items():
            for path in ("victim", "planted"):
                said = True if value is True else path
                with self.subTest(setting=name, value=said):
                    evil = self.checkpoint(**{"overwrite": True, name: said})
                    self.refuse("train", "--resume", evil, code=2,
                                says=(evil, "the command line alone decides", flag(name, said), "--overwrite"))
                    if value is not True:  # one flag is not leave for the others
                        self.refuse("train", "--resume", evil, "--overwrite", code=2, says=(evil, flag(name, said)))
                    self.assertUntouched()

    def test_configurations_do_not_say_where_to_write(self):
        for command, settings in (("train", WRITES), ("search", {**WRITES, "state": "planted"}), ("layer", {"out": "victim", "w-out": "victim"})):
            for name, value in settings.items():
                with self.subTest(command=command, setting=name):
                    self.write("evil.toml", f"{name} = {json.dumps(value)}\n")
                    self.refuse(command, "--config", "evil.toml", code=2,
                                says=("evil.toml", "the command line alone decides", flag(name, value)))
                    self.assertUntouched()

    def test_what_is_given_again_is_written(self):
        evil = self.checkpoint(history="victim", model="planted")
        self.succeed("train", "--quiet", "--resume", evil, "--model", "mine", "--history", "h.csv")
        self.assertUntouched()
        self.assertTrue(os.path.exists(self.path("h.csv")))
        os.remove(self.path("mine"))
        self.succeed("train", "--quiet", "--resume", evil, "--model", "mine", "--history", "")
        self.assertUntouched()
        self.write("evil.toml", 'data = "t.csv"\nepochs = 1\nmodel = "planted"\noverwrite = true\nhistory = "victim"\n')
        self.succeed("train", "--quiet", "--config", "evil.toml", "--model", "mine", "--no-overwrite", "--history", "")
        self.assertUntouched()

    def test_the_model_of_a_checkpoint_is_beside_it(self):
        self.checkpoint()
        os.mkdir(self.path("there"))
        self.rewritten("own.checkpoint", "there/own.checkpoint",
                       lambda recipe: recipe["training"]["settings"].update({"model": self.path("own")}))
        os.remove(self.path("own"))
        self.succeed("train", "--quiet", "--resume", "there/own.checkpoint")
        self.assertFalse(os.path.exists(self.path("own")))
        self.assertTrue(os.path.exists(self.path("there/own")))

    def test_models_and_encoded_data_do_not_say_where_to_write(self):
        evil = {name: True if value is True else "victim" for name, value in WRITES.items()}
        self.checkpoint()
        self.rewritten("own", "evil.m", lambda recipe: recipe["training"]["settings"].update(evil))
        self.succeed("train", "--quiet", *TRAIN, "--start-from", "evil.m")
        self.succeed("predict", "evil.m", "t.csv", "--out", "answers.csv")
        self.succeed("data", "encode", "t.csv", "--output", "e", "--json", "j")
        manifest = self.read_json("e/encoded.json")
        manifest["settings"].update(evil)
        del manifest["crc32"]
        self.write("e/encoded.json", json.dumps(manifest))
        self.succeed("train", "--quiet", "e", "--epochs", "1", "--hidden", "3")
        self.assertUntouched()

    def test_search_folders_do_not_say_where_to_write(self):
        search = ("search", "--data", "t.csv", "--epochs", "2", "--threads", "1", "--vary", "learning-rate=0.01,0.02", "--halving", "0",
                  "--check-folds", "0", "--state", "s", "--quiet")
        self.succeed(*search)
        state = self.read_json("s/search.json")
        state["definition"]["settings"] = {"model": "victim", "overwrite": True}
        state["definition"]["model"] = "victim"
        del state["crc32"]
        self.write("s/search.json", json.dumps(state))
        self.write("s/trial-9.stage-9.claim-1", self.path("victim"))
        self.run_program(*search)
        self.assertUntouched()

    # Links that somebody planted where lamina writes.

    def test_no_link_is_followed(self):
        for name in ("m.lamina-lock", "m.checkpoint.lamina-lock", "m.checkpoint", "m"):
            with self.subTest(link=name):
                os.symlink("victim", self.path(name))
                self.run_program("train", "--quiet", *TRAIN, "--checkpoint-epochs", "1", "--model", "m")
                self.assertUntouched()
                for left in ("m", "m.checkpoint", name):
                    if os.path.lexists(self.path(left)):
                        os.remove(self.path(left))

    # Reading another file: what is in it reaches nobody.

    def test_checkpoints_read_no_other_data(self):
        rows = blob_rows(60, seed=9)
        self.write("secret.csv", rows)
        evil = self.checkpoint(data="secret.csv")
        result = self.refuse("train", "--resume", evil, code=1, says="data")
        self.assertNotIn(rows[1][0], result.err + result.out)

    # Running a command.

    def test_no_text_is_a_command(self):
        command = "$(touch planted); touch planted; `touch planted`|touch planted"
        self.write("evil.toml", f'data = "t.csv"\nepochs = 1\ntarget = [{json.dumps(command)}]\n')
        self.refuse("train", "--config", "evil.toml")
        self.refuse("train", "--resume", self.checkpoint(data=command), code=1)
        self.write(command.replace("/", ""), [["a", "b", command]] + blob_rows(60)[1:])
        self.succeed("train", "--quiet", command, "--epochs", "1", "--plot", "p", "--report", "r")
        self.assertUntouched()

    # Memory without bounds.

    def test_claims_of_size_take_no_memory(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        huge = 1 << 40
        self.write("huge.m", struct.pack("<Q", huge) + b"{")
        header = {"layer.1.weight": {"dtype": "F32", "shape": [huge, huge], "data_offsets": [0, 0]}}
        self.write("wide.m", write_safetensors({"lamina": "{}"}, header, b""))
        npy = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({huge}, 3), }}".ljust(117) + "\n"
        self.write("huge.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(npy)) + npy.encode())
        self.write("huge.toml", "hidden = [" * 100000)
        for arguments in (("predict", "huge.m", "t.csv"), ("predict", "wide.m", "t.csv"), ("train", "--resume", "huge.m"),
                          ("train", "huge.npy"), ("train", "--config", "huge.toml"), ("train", "t.csv", "--start-from", "wide.m")):
            with self.subTest(arguments=arguments):
                self.refuse(*arguments, preexec_fn=limited)
        for settings in ({"hidden": [10**9]}, {"hidden": [10**7]}, {"layers": "dot-tanh:10000000,auto"}):
            evil = self.checkpoint(**settings)
            self.refuse("train", "--resume", evil, code=1, says=(evil, "smaller than that of its settings"), preexec_fn=limited)


if __name__ == "__main__":
    main()
