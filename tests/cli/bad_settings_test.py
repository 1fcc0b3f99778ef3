"""Settings and model files that cannot be used."""

import json
import re
import struct
import unittest

from lamina_cli import DIGITS, CliTest, blob_rows, main, read_safetensors, write_safetensors


class BadSettingsTest(CliTest):
    def refuse_setting(self, *arguments, says=()):
        return self.refuse("train", "--data", DIGITS, "--model", "m.safetensors", "--history", "h.csv", *arguments, code=2,
                           says=says)

    def test_layers(self):
        self.refuse_setting("--layers", "dot-relu:16,dot-softmax:12", says=("12 neurons", "10"))
        self.refuse_setting("--layers", "dot-relu:16,dot-softmax:3", says=("3 neurons", "10"))
        for layers in ("dot-relu:0,dot-softmax:10", "dot-relu:-5", "dot-relu", ":", ",", "dot-relu:x", "dott-relu:10",
                       "dot-rellu:10", "dot-relu:99999999999999999999", "dot-softmax:8,dot-relu:10",
                       "dot-bipolar_sigmoid(gain=nan):10", "dot-bipolar_sigmoid(gian=1):10"):
            with self.subTest(layers=layers):
                self.refuse_setting("--layers", layers)
        for neuron, says in (("dot-tanh-radius", "tanh has no radius"), ("rbf-radius-bias", "no bias"),
                             ("rbf(radius=0)-radius", "must be positive"), ("rbv", "synapse-activation")):
            with self.subTest(neuron=neuron):
                self.refuse_setting("--layers", f"{neuron}:16,dot-softmax:10", says=says)

    def test_what_was_removed_is_named_with_what_to_do_instead(self):
        self.refuse_setting("--sync-steps", "4", says=("--sync-steps was removed", "Leave it out"))
        self.refuse_setting("--number-embedding", "periodic", says=("periodic was removed", "pbld"))
        self.refuse("bench", "scaling", "--stragglers", "2", code=2, says=("--stragglers was removed", "Leave it out"))
        self.refuse("devices", "---", code=2, says=("---",))
        self.write("old.toml", "sync-steps = 4\n")
        self.refuse_setting("--config", "old.toml", says=("old.toml", "--sync-steps was removed", "Leave it out"))

    def test_hidden(self):
        self.refuse_setting("--hidden", "0,5", says=("hidden", "0,5"))
        self.refuse_setting("--hidden", "-3", says=("hidden", "-3"))
        self.refuse_setting("--hidden", "many", says=("--hidden", "many"))
        self.refuse_setting("--hidden", "1.5", says="--hidden")
        for hidden in ("9223372036854775807", "4000000000,4000000000", "2000000000000"):
            with self.subTest(hidden=hidden):
                self.refuse("train", "--data", DIGITS, "--hidden", hidden, "--model", "m.safetensors")

    def test_learning_rate(self):
        for rate in ("nan", "-1", "inf", "0"):
            self.refuse_setting("--learning-rate", rate, says=("--learning-rate must be a positive number", f"'{rate}'"))
        for rate in ("1e400", "abc", ""):
            self.refuse_setting("--learning-rate", rate, says="--learning-rate")

    def test_no_flag_takes_what_is_no_finite_number(self):
        """Checks all flags that take a number by the help, or a list of numbers in the settings of a run."""
        self.write("x.csv", blob_rows(30))
        self.write("w.csv", "1,2\n3,4\n")
        data = {"train": ["--data", "x.csv"], "search": ["--data", "x.csv", "--vary", "hidden=4,8"], "data encode": ["x.csv", "--output", "e"],
                "layer": ["--x", "w.csv", "--w", "w.csv", "--out", "o.npy"], "neighbours": ["--x", "w.csv", "--out", "o.npy"],
                "centres": ["--x", "w.csv", "--out", "o.npy"], "serve": ["m.safetensors"]}
        commands = re.findall(r"(?m)^  ([a-z]+)  +[A-Z]", self.succeed("--help").out)
        whole = []
        for command in commands:
            inner = re.findall(r"(?m)^  ([a-z0-9-]+)  +[A-Z]", self.succeed(command, "--help").out.partition("Commands:")[2])
            whole += [f"{command} {name}" for name in inner] or [command]
        found = 0
        for command in whole:
            text = self.succeed(*command.split(), "--help").out
            flags = re.findall(r"(?m)^  (?:-\w,)?(--[a-z0-9-]+)(?:,\S+)? (?:FLOAT|SECONDS)\b", text)
            if command in ("train", "search"):
                flags += ["--split", "--target-values", "--quantiles"]
            for flag in flags:
                for number in ("nan", "inf", "-inf"):
                    with self.subTest(command=command, flag=flag, number=number):
                        value = {"--split": f"{number},0.5,0.5", "--target-values": f"0,{number}", "--quantiles": f"0.1,{number}"}.get(flag, number)
                        self.refuse(*command.split(), *data.get(command, []), f"{flag}={value}", code=2, says=flag)
                        found += 1
        self.assertGreater(found, 100, whole)

    def test_numbers_out_of_range(self):
        for flag, value in (("--epochs", "-1"), ("--epochs", "0"), ("--batch", "0"), ("--batch", "-5"), ("--momentum", "1"),
                            ("--momentum", "-0.1"), ("--momentum", "nan"), ("--weight-decay", "-1"), ("--beta1", "1"),
                            ("--beta2", "2"), ("--epsilon", "0"), ("--clip-norm", "-1"), ("--clip-norm", "nan"),
                            ("--label-smoothing", "1"), ("--label-smoothing", "-0.1"), ("--patience", "-1"), ("--min-improvement", "-1"),
                            ("--checkpoint-epochs", "-1"), ("--schedule-factor", "0"), ("--schedule-epochs", "0"),
                            ("--schedule-patience", "0"), ("--threads", "-1"), ("--threads", "5000"), ("--samples", "-1")):
            with self.subTest(flag=flag, value=value):
                self.refuse_setting(flag, value, says=(flag, f"'{value}'"))
        for flag, value in (("--epochs", "1e3"), ("--epochs", "99999999999999999999"), ("--seed", "-1"), ("--batch", "x")):
            with self.subTest(flag=flag, value=value):
                self.refuse_setting(flag, value, says=(flag, value))

    def test_split(self):
        self.refuse_setting("--split", "0.5,0.2,0.2", says=("--split", "sum to 1", "0.9"))
        self.refuse_setting("--split", "1", says=("--split", "three shares", "'1'"))
        self.refuse_setting("--split", "0.5,0.5", says=("--split", "three shares"))
        self.refuse_setting("--split", "1.5,-0.5,0", says="-0.5")
        self.refuse_setting("--split", "nan,0.5,0.5", says="--split")
        self.refuse_setting("--split", "0,0.5,0.5", says="training")

    def test_combinations(self):
        self.refuse_setting("--loss", "cross_entropy", "--output-activation", "relu", says="softmax")
        self.refuse_setting("--label-smoothing", "0.1", "--loss", "mae", says=("--label-smoothing", "mae"))
        self.refuse_setting("--loss", "huber(delta=0)", says="delta of huber must be positive")
        self.refuse_setting("--patience", "3", "--split", "1,0,0", says="validation")
        for other, says in ((("--members", "4"), "members"), (("--shards", "2"), "normalized layers"), (("--batch", "1"), "at least 2"),
                            (("--optimizer", "lbfgs"), "--normalization"), (("--hidden", "0"), "no layer to normalize"),
                            (("--layers", "dot-relu-nobias:8,dot-softmax:10"), "dot-relu-nobias")):
            with self.subTest(other=other):
                self.refuse_setting("--normalization", "batch", *other, says=says)
        self.refuse_setting("--gain", "nan", "--activation", "bipolar_sigmoid", says="--gain")
        self.refuse_setting("--target-values", "1", says="--target-values")
        self.refuse_setting("--target-values", "1,0", says="--target-values")
        self.refuse_setting("--class-weights", "3:2", says="--class-weights")
        self.refuse_setting("--class-weights", "3=-2", says="--class-weights")
        self.refuse("train", "--data", DIGITS, "--checkpoint-epochs", "1", code=2, says="--checkpoint FILE or --model FILE")

    def test_words_that_nobody_expects_are_named_as_they_were_written(self):
        self.refuse_setting("--epoch", "3", says="unexpected arguments: --epoch 3. Did you mean '--epochs'?")
        self.refuse("predict", "a", "b", "c", "d", code=2, says="not expected: c d")

    def test_gain_without_a_bipolar_sigmoid_is_not_ignored(self):
        self.refuse_setting("--gain", "2", says=("--gain", "bipolar_sigmoid"))

    def test_backend_that_is_not_there(self):
        available = {entry["name"]: entry["available"]
                     for entry in json.loads(self.succeed("devices", "--json", "-").out)["backends"]}
        missing = [name for name, there in available.items() if not there]
        for name in missing:
            self.refuse("train", "--data", DIGITS, "--backend", name, says=name)
        if not missing:
            self.skipTest("a known backend that this machine lacks: all are here")

    def test_diverging_run(self):
        result = self.refuse("train", "--data", DIGITS, "--optimizer", "sgd", "--learning-rate", "1e9", "--loss", "mse",
                             "--output-activation", "identity", "--model", "m.safetensors", "--history", "h.csv", "--json",
                             "r.json", code=1, says=("diverged", "epoch 1", "step", "smaller learning rate"))
        self.assertNotIn("nan", result.out)


class BadModelTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("blobs.csv", blob_rows(40))
        self.train("--data", "blobs.csv", "--hidden", "3", "--epochs", "1", "--model", "m.safetensors")
        self.content = self.read("m.safetensors", "rb")

    def refuse_model(self, content, *says):
        self.write("bad.safetensors", content)
        for command in (["evaluate", "--json", "r.json"], ["predict", "--out", "x.csv"]):
            self.refuse(*command, "--model", "bad.safetensors", "--data", "blobs.csv", code=1, says=("bad.safetensors", *says))
        self.refuse("train", "--resume", "bad.safetensors", code=1, says=("bad.safetensors", *says))

    def split(self):
        (length,) = struct.unpack("<Q", self.content[:8])
        header = json.loads(self.content[8 : 8 + length])
        return header.pop("__metadata__"), header, self.content[8 + length :]

    def test_cut_short(self):
        for size in (0, 3, 8, 100, len(self.content) // 2, len(self.content) - 1):
            self.refuse_model(self.content[:size])
        self.refuse_model(self.content + b"\0", "too many")

    def test_bad_header(self):
        self.refuse_model(struct.pack("<Q", 2**63) + self.content[8:], "header")
        self.refuse_model(struct.pack("<Q", 2) + b"{}", "not a lamina model")
        self.refuse_model(struct.pack("<Q", 4) + b"[[[[", "header")
        self.refuse_model(struct.pack("<Q", 200005) + b'{"a":' + b"[" * 200000, "nested deeper")
        self.refuse_model(self.content[:8] + b"\xff" + self.content[9:], "header")

    def test_tensors_that_do_not_fit(self):
        metadata, header, data = self.split()
        name = "layer.1.weight"
        for key, value in (("data_offsets", [0, 10**9]), ("data_offsets", [24, 0]), ("data_offsets", [-1, 23]),
                           ("shape", [3, 3]), ("shape", [2**40, 2**40]), ("shape", [-3, -2]), ("dtype", "F99"),
                           ("dtype", "I32")):
            with self.subTest(key=key, value=value):
                wrong = json.loads(json.dumps(header))
                wrong[name][key] = value
                self.refuse_model(write_safetensors(metadata, wrong, data), "tensor" if key != "dtype" else name)
        del header[name]
        self.refuse_model(write_safetensors(metadata, header, data))

    def test_description(self):
        metadata, header, data = self.split()
        for change, says in ((lambda m: m.update(format_version=999), "newer lamina"),
                             (lambda m: m.pop("network"), "network"),
                             (lambda m: m["network"]["layers"][0].update(outputs=10**12), "layer.1"),
                             (lambda m: m["network"]["layers"][0].update(activation="rellu"), "rellu"),
                             (lambda m: m["network"]["layers"][0].update(synapse="dott"), "dott"),
                             (lambda m: m["network"].update(layers=[]), ""),
                             (lambda m: m.update(loss="none"), "none"),
                             (lambda m: m.update(preprocessor={}), "")):
            model = json.loads(metadata["lamina"])
            change(model)
            self.refuse_model(write_safetensors({**metadata, "lamina": json.dumps(model)}, header, data), says)
        self.refuse_model(write_safetensors({"lamina": "{"}, header, data))
        self.refuse_model(write_safetensors({}, header, data), "not a lamina model")

    def test_other_files(self):
        for command in (["evaluate"], ["predict"]):
            self.refuse(*command, "--model", "blobs.csv", "--data", "blobs.csv", code=1,
                        says=("blobs.csv", "not a lamina model"))
            self.refuse(*command, "--model", DIGITS, "--data", "blobs.csv", code=1, says="not a lamina model")
            self.refuse(*command, "--model", "absent", "--data", "blobs.csv", code=1, says="absent")
            self.refuse(*command, "--model", self.folder, "--data", "blobs.csv", code=1, says="directory")
            self.refuse(*command, "--model", "m.safetensors", "--data", "absent.csv", code=1, says="absent.csv")
        self.refuse("train", "--resume", "blobs.csv", code=1, says="blobs.csv")

    def test_damaged_bytes_never_crash(self):
        for at in range(0, len(self.content), 41):
            damaged = bytearray(self.content)
            damaged[at] ^= 0x55
            self.write("bad.safetensors", bytes(damaged))
            result = self.run_program("predict", "--model", "bad.safetensors", "--data", "blobs.csv")
            self.assertIn(result.code, (0, 1), f"byte {at}: {result}")


if __name__ == "__main__":
    main()
