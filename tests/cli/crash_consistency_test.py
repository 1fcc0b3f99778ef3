"""What a crash of the machine may leave.

Every prefix of what a run does to files is replayed. Writes that were not synced are dropped, torn at 512 and 4,096
bytes or reordered; names that were not synced are as before. A file that has its name is old or new, whole. A run that
goes on from it ends with the same bits. tests/faults/record_calls.c records, preloaded.
"""

import os
import posixpath
import re
import shutil
import unittest

from lamina_cli import CliTest, main

LIBRARY = os.environ.get("LAMINA_RECORDER", "")
TABLE = "a,b,y\n" + "".join(f"{i % 7},{i % 5 - 2},{i % 3}\n" for i in range(90))
# What nobody reads as a result: parts, locks, who is at work (half a claim is one that is taken over).
TRANSIENT = re.compile(r"\.(part|lamina-lock|heartbeat|claim-\d+)$|\.part/")


class File:
    """An inode: what the disk has of it, and the writes since it was last synced."""

    def __init__(self, content=b""):
        self.synced = content
        self.pending = []  # (offset, bytes), or (size, None) for a truncation

    @staticmethod
    def apply(content, writes):
        for offset, data in writes:
            if data is None:
                content = content[:offset].ljust(offset, b"\0")
            else:
                content = content.ljust(offset, b"\0")[:offset] + data + content[offset + len(data):]
        return content

    def now(self):
        return self.apply(self.synced, self.pending)

    def after_crash(self):
        """Every content that the disk may have."""
        found = {self.synced, self.now()}
        for i, (offset, data) in enumerate(self.pending):
            found.add(self.apply(self.synced, self.pending[:i]))  # the later ones dropped
            found.add(self.apply(self.synced, self.pending[i:]))  # the earlier ones dropped: reordered
            for sector in (512, 4096):
                if data is not None and len(data) > sector:
                    for size in {sector, len(data) // sector * sector, len(data) // sector // 2 * sector}:
                        torn = [*self.pending[:i], (offset, data[:size])]
                        found.add(self.apply(self.synced, torn))
                    found.add(self.apply(self.synced, [*self.pending[:i], (offset + sector, data[sector:])]))
        return found


class Disk:
    """Names and files, as the program sees them and as the disk may have them."""

    def __init__(self, files):
        self.names = {name: File(content) for name, content in files.items()}
        self.files = {}  # by inode, those that are open
        self.synced_names = dict(self.names)
        self.pending = []  # what was done to names since their folder was synced: (folder, names after it)
        self.versions = {name: {file.now()} for name, file in self.names.items()}  # whole contents a name had

    def change_names(self, folder):
        self.pending.append((folder, dict(self.names)))

    def below(self, path):
        """The file, or those of the folder, by what their names have behind `path`."""
        return {name[len(path):]: file for name, file in self.names.items() if name == path or name.startswith(path + "/")}

    def take(self, path):
        taken = self.below(path)
        for end in taken:
            del self.names[path + end]
        return taken

    def do(self, record, data):
        kind, _, rest = record.partition(" ")
        if kind in ("create", "open"):
            inode, _, path = rest.partition(" ")
            path = posixpath.normpath(path)
            if kind == "create":
                self.names[path] = File()
                self.change_names(posixpath.dirname(path))
            self.files[inode] = self.names[path]
        elif kind == "truncate":
            inode, size = rest.split()
            self.files[inode].pending.append((int(size), None))
        elif kind == "write":
            inode, offset, _ = rest.split()
            self.files[inode].pending.append((int(offset), data))
        elif kind == "sync":
            file = self.files[rest]
            file.synced, file.pending = file.now(), []
        elif kind == "syncfolder":
            folder = posixpath.normpath(rest).replace(".", "", 1) if rest == "." else posixpath.normpath(rest)
            for i in range(len(self.pending) - 1, -1, -1):
                if self.pending[i][0] == folder:  # names are kept in order, as journals do it
                    self.synced_names, self.pending = self.pending[i][1], self.pending[i + 1:]
                    break
        elif kind in ("rename", "link", "exchange"):
            source, target = (posixpath.normpath(path) for path in rest.split("\t"))
            moved = self.below(source) if kind == "link" else self.take(source)
            back = self.take(target) if kind == "exchange" else {}
            self.names |= {target + end: file for end, file in moved.items()} | {source + end: file for end, file in back.items()}
            for end, file in moved.items():
                self.versions.setdefault(target + end, set()).add(file.now())
            self.change_names(posixpath.dirname(target))
        elif kind == "unlink":
            self.names.pop(posixpath.normpath(rest), None)
            self.change_names(posixpath.dirname(posixpath.normpath(rest)))
        else:
            raise ValueError(record)

    def after_crash(self):
        """(names, file of each) that the disk may have."""
        yield self.synced_names
        for _, names in self.pending:
            yield names


@unittest.skipUnless(os.path.exists(LIBRARY), "crashes: the preloaded library was not built")
class CrashConsistencyTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("t.csv", TABLE)
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (500, 4), }"
        head += " " * ((-len(head) - 11) % 64) + "\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(500 * 4 * 4))

    def record(self, *command):
        """Runs it; its records as (line, bytes)."""
        path = self.folder + "-record"
        self.addCleanup(lambda: os.path.exists(path) and os.remove(path))
        environment = {**os.environ, "LAMINA_TUNE": "off", "LD_PRELOAD": LIBRARY, "LAMINA_RECORD": path}
        result = self.run_program(*command, env=environment)
        self.assertEqual((result.code, result.err), (0, ""), result)
        with open(path, "rb") as file:
            content = file.read()
        os.remove(path)
        records = []
        while content:
            line, _, content = content.partition(b"\n")
            size = int(line.split()[3]) if line.startswith(b"write ") else 0
            records.append((line.decode(), content[:size]))
            content = content[size:]
        return records

    def replay(self, *command):
        """Checks every prefix. Returns the contents that each name can have after a crash, and the whole folders. Each
        is {name: content}, with and without what was not synced."""
        before = {name: content for name, content in self.snapshot().items() if content is not None}
        records = self.record(*command)
        whole = Disk(before)
        for line, data in records:
            whole.do(line, data)
        disk = Disk(before)
        seen, folders, states = {}, {}, 0
        for line, data in [("", b""), *records]:
            if line:
                disk.do(line, data)
            for names in disk.after_crash():
                for folder in ({name: file.synced for name, file in names.items()}, {name: file.now() for name, file in names.items()}):
                    folders.setdefault(tuple(sorted(folder.items())), folder)
                for name, file in names.items():
                    if TRANSIENT.search(name):
                        continue
                    for content in file.after_crash():
                        states += 1
                        self.assertTrue(content in whole.versions.get(name, ()),
                                      f"{name} is neither old nor new ({len(content)} bytes) after {line}")
                        seen.setdefault(name, set()).add(content)
                for name in before:
                    self.assertIn(name, names, f"{name} is gone after {line}")
        for name, content in self.snapshot().items():  # nothing was left unrecorded
            if content is not None:
                self.assertEqual(content, whole.names[name].now(), name)
        self.assertGreater(states, len(records))
        return seen, list(folders.values())

    def test_training(self):
        train = ("train", "--data", "t.csv", "--hidden", "40", "--epochs", "5", "--batch", "16", "--threads", "1")
        self.succeed(*train, "--model", "m")
        model = self.read("m", "rb")
        self.succeed(*train, "--epochs", "1", "--model", "m", "--overwrite")  # the old one
        seen, _ = self.replay(*train, "--model", "m", "--checkpoint", "kept", "--checkpoint-epochs", "1", "--history", "h.csv", "--overwrite")
        self.assertEqual(len(seen["m"]), 2)
        self.assertGreaterEqual(len(seen["kept"]), 4)
        for content in seen["kept"]:
            self.write("kept", content)
            self.succeed("train", "--resume", "kept", "--quiet", "--model", "again", "--history", "", "--overwrite")
            names = ("network", "preprocessor")
            with self.subTest(size=len(content)):
                self.assertEqual(self.tensors("again"), self.tensors_of(model), names)

    def tensors(self, name):
        return self.tensors_of(self.read(name, "rb"))

    @staticmethod
    def tensors_of(content):
        return content[8 + int.from_bytes(content[:8], "little"):]

    def test_layer(self):
        self.write("out.npy", b"old")
        seen, _ = self.replay("layer", "--x", "x.npy", "--neuron", "mul", "--neurons", "30", "--out", "out.npy", "--threads", "1")
        self.assertEqual(len(seen["out.npy"]), 2)

    def test_encoded_data(self):
        """The folder, too, is the old one or the new one: their names are exchanged."""
        encode = ("data", "encode", "t.csv", "--output", "e", "--seed")
        self.succeed(*encode, "2")
        new = self.files_of("e")
        self.succeed(*encode, "1")
        old = self.files_of("e")
        self.assertNotEqual(old, new)
        _, folders = self.replay(*encode, "2")
        seen = [{name: content for name, content in folder.items() if name.startswith("e/")} for folder in folders]
        for folder in seen:
            self.assertIn(folder, (old, new))
        self.assertIn(new, seen)

    def files_of(self, folder):
        return {name: content for name, content in self.snapshot().items() if name.startswith(folder + "/")}

    def test_search(self):
        """Two at a time go on from what a crash left: a few of the folders, all with LAMINA_CRASHES=all."""
        search = ("search", "--data", "t.csv", "--hidden", "4", "--vary", "learning-rate=0.01,0.1", "--epochs", "4", "--threads", "1",
                  "--halving", "2", "--first-epochs", "2", "--retrain", "--overwrite")
        self.succeed(*search, "--model", "m")
        model = self.tensors("m")
        os.remove(self.path("m"))
        os.mkdir(self.path("state"))
        search += ("--state", "state", "--lease", "1")
        seen, folders = self.replay(*search, "--model", "m")
        for name in ("search.json", "trial-1.stage-1.json", "stage-1.json", "trial-1.checkpoint"):
            self.assertIn("state/" + name, seen)  # their names come by link() and rename()
        kept = [{name: content for name, content in folder.items() if name.startswith("state/")} for folder in folders]
        kept = list({tuple(sorted(folder.items())): folder for folder in kept}.values())
        self.assertGreater(len(kept), 40)
        for number in range(0, len(kept), 1 if os.environ.get("LAMINA_CRASHES") == "all" else len(kept) // 12):
            with self.subTest(folder=number, names=sorted(kept[number])):
                shutil.rmtree(self.path("state"))
                os.mkdir(self.path("state"))
                for name, content in kept[number].items():
                    self.write(name, content)
                both = [self.start(*search, "--model", f"m{worker}") for worker in range(2)]
                for worker, process in enumerate(both):
                    result = self.finish(process)
                    self.assertEqual(result.code, 0, str(result))
                    self.assertEqual(self.tensors(f"m{worker}"), model)
                self.succeed(*search, "--model", "m")  # removes what a worker left that ended before the other
                self.assertEqual(self.tensors("m"), model)
                # Only the lease tells that a worker without a sign of life died; these searches may end before it.
                left = [name for name, content in self.snapshot().items() if name.startswith("state/") and content]
                self.assertEqual(left, ["state/search.json"])

    def test_predictions_and_exports(self):
        self.succeed("train", "--quiet", "--data", "t.csv", "--epochs", "2", "--model", "m")
        for command, out in ((("predict", "--model", "m", "--data", "t.csv", "--out", "p.csv"), "p.csv"),
                             (("export", "--onnx", "m", "--out", "m.onnx"), "m.onnx")):
            self.write(out, b"old")
            seen, _ = self.replay(*command)
            self.assertEqual(len(seen[out]), 2)


if __name__ == "__main__":
    main()
