"""lamina.train on tables and files, models and their files."""

import json
import os
import pickle
import signal
import subprocess
import threading
import time
import zipfile

import numpy as np
import pytest

import lamina

pandas = pytest.importorskip("pandas")


def frame(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], rows)
    size = rng.normal(10, 3, rows)
    price = size * np.where(colour == "red", 2.0, 1.0) + rng.normal(0, 0.1, rows)
    return pandas.DataFrame({"colour": colour, "size": size, "price": price})


SETTINGS = dict(epochs=30, hidden=[16], learning_rate=0.02, batch=16, task="regression")


def test_train_on_a_frame_with_text():
    data = frame()
    result = lamina.train(data, "price", seed=3, **SETTINGS)
    assert result.stop_reason == "epochs" and len(result.history) == 30
    assert result.history[-1]["validation_loss"] < 0.2 * result.history[0]["validation_loss"]
    predicted = result.model.predict(data[["size", "colour"]])  # any order, without the target
    assert np.corrcoef(predicted, data["price"])[0, 1] > 0.97
    assert list(result.history.to_pandas().columns[:2]) == ["learning_rate", "train_loss"]


def test_names_with_commas_are_names():
    rng = np.random.default_rng(0)
    target, other = "How often? (1 = never, 5 = daily)", 'Who, "roughly"?'
    table = pandas.DataFrame({"x": rng.normal(size=60), other: rng.choice(["a", "b"], 60), target: rng.normal(size=60)})
    result = lamina.train(table, target, drop=[other], recipe="plain", epochs=1)
    assert result.model.predict(table[["x"]]).shape == (60,)
    with pytest.raises(lamina.UnknownColumnError):
        lamina.train(table, target, drop=other, recipe="plain", epochs=1)  # a text is a list as the flag has it


def test_file_and_frame_give_the_same_model(tmp_path):
    data = frame()
    data.to_csv(tmp_path / "data.csv", index=False)
    from_file = lamina.train(tmp_path / "data.csv", "price", **SETTINGS)
    from_frame = lamina.train(pandas.read_csv(tmp_path / "data.csv"), "price", **SETTINGS)
    np.testing.assert_array_equal(from_file.model.predict(data), from_frame.model.predict(data))


def write_book(path, data):
    """An .xlsx file with what readers of such look at."""
    names = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in data.columns)
    rows = ["".join(f"<c><v>{float(value)!r}</v></c>" if isinstance(value, float) else f'<c t="inlineStr"><is><t>{value}</t></is></c>' for value in row)
            for row in data.itertuples(index=False)]
    cells = "".join(f"<row>{row}</row>" for row in [names, *rows])
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", f'<workbook xmlns:r="{kind}"><sheets><sheet name="One" r:id="r1"/></sheets></workbook>')
        archive.writestr("xl/_rels/workbook.xml.rels",
                         f'<Relationships><Relationship Id="r1" Type="{kind}/worksheet" Target="sheet.xml"/></Relationships>')
        archive.writestr("xl/sheet.xml", f"<worksheet><sheetData>{cells}</sheetData></worksheet>")


def test_books_are_read_by_path(tmp_path):
    data = frame()
    data.to_csv(tmp_path / "data.csv", index=False)
    write_book(tmp_path / "data.xlsx", data)
    from_csv = lamina.train(tmp_path / "data.csv", "price", **SETTINGS)
    from_book = lamina.train(tmp_path / "data.xlsx", "price", sheet="One", **SETTINGS)
    np.testing.assert_array_equal(from_csv.model.predict(data), from_book.model.predict(data))
    with pytest.raises(lamina.Error, match="no such sheet"):
        lamina.train(tmp_path / "data.xlsx", "price", sheet="Two", **SETTINGS)
    answers = from_book.model.predict(tmp_path / "data.xlsx")
    np.testing.assert_array_equal(from_book.model.predict(tmp_path / "data.xlsx", sheet="One", header_line=1), answers)
    with pytest.raises(lamina.Error, match="no such sheet"):
        from_book.model.predict(tmp_path / "data.xlsx", sheet="Two")
    with pytest.raises(lamina.Error, match="does not say how rows are read"):
        from_book.model.predict(tmp_path / "data.xlsx", hidden=[3])
    with pytest.raises(TypeError, match="sheet says how a file is read"):
        from_book.model.predict({"size": [1.0]}, sheet="One")


def test_model_files_and_pickles(tmp_path):
    data = frame()
    model = lamina.train(data, "price", **SETTINGS).model
    model.save(tmp_path / "model.safetensors")
    for other in (lamina.Model.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(model.predict(data), other.predict(data))
        assert other.columns == ["colour", "size"] and other.targets == ["price"] and other.classes == []
    assert model.to_onnx()[:1] == b"\x08"
    files = model.to_c("one")
    assert sorted(files) == ["one.c", "one.h"] and "int one_predict(" in files["one.h"]
    assert "int8_t" in model.to_c("one", data, int8=True)["one.c"]
    page = model.to_html("Ones & <others>", data, weights="i8")
    assert page.startswith("<!DOCTYPE html>") and '"title":"Ones \\u0026 \\u003cothers\\u003e"' in page
    assert '"type":"i8"' in page and '"type":"i8"' not in model.to_html()
    assert '"int8":' in model.to_html(int8=True) and '"int8":' not in page
    program = os.environ.get("LAMINA_PROGRAM")
    if program:
        data.to_csv(tmp_path / "data.csv", index=False)
        subprocess.run(
            [program, "predict", "--model", "model.safetensors", "--data", "data.csv", "--out", "answers.csv"],
            cwd=tmp_path,
            check=True,
        )
        answers = pandas.read_csv(tmp_path / "answers.csv")
        np.testing.assert_allclose(answers.iloc[:, -1], model.predict(data), rtol=1e-6)


def test_damaged_pickles_are_errors():
    """What a model keeps of itself is checked as its file is; pickle itself runs what it is told to (SECURITY.md)."""
    model = lamina.train(frame(), "price", **SETTINGS).model
    whole = pickle.dumps(model)
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        with pytest.raises((pickle.UnpicklingError, EOFError, lamina.Error)):
            pickle.loads(whole[:size])
    content, *rest = model.__getstate__()
    for damaged in (b"", content[:100], content[:-1], content[:50] + b"\xff" * 8 + content[58:],
                    content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]):
        other = lamina.Model.__new__(lamina.Model)
        with pytest.raises(lamina.Error):
            other.__setstate__((damaged, *rest))
    other = lamina.Model.__new__(lamina.Model)
    other.__setstate__((content, *rest))
    np.testing.assert_array_equal(other.predict(frame()), model.predict(frame()))


def test_classes_rows_and_missing_values():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(150, 2))
    data = pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": np.where(x.sum(1) > 0, "up", "down")})
    result = lamina.train(data, epochs=30, hidden=[8], learning_rate=0.05, batch=16, missing="mean")
    assert sorted(result.model.classes) == ["down", "up"]
    assert (result.model.predict(data) == data["kind"]).mean() > 0.95
    outputs = result.model.predict_outputs(data)
    rows = result.model.rows()
    np.testing.assert_allclose([rows(row) for row in x[:5]], outputs[:5], rtol=1e-5, atol=1e-7)
    data.loc[3, "a"] = np.nan
    assert result.model.predict(data)[3] in ("up", "down")


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "dict"])
def test_other_tables(kind):
    data = frame()
    if kind == "dict":
        table = {name: data[name].to_numpy() for name in data}
    elif kind == "polars":
        table = pytest.importorskip("polars").DataFrame({name: data[name].tolist() for name in data})
    else:
        table = pytest.importorskip("pyarrow").table({name: data[name].tolist() for name in data})
    expected = lamina.train(data, "price", **SETTINGS).model.predict(data)
    np.testing.assert_array_equal(lamina.train(table, "price", **SETTINGS).model.predict(table), expected)


def test_callbacks_stop_and_fail():
    seen = []
    result = lamina.train(frame(), "price", on_epoch=lambda record: seen.append(record["epoch"]) or len(seen) == 4, **SETTINGS)
    assert seen == [1, 2, 3, 4] and result.stop_reason == "interrupted"

    told = lamina.train(frame(), "price", on_epoch=lambda record: np.bool_(record["epoch"] == 2), **SETTINGS)
    assert told.stop_reason == "interrupted"

    def fail(record):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        lamina.train(frame(), "price", on_epoch=fail, **SETTINGS)


def test_control_c_keeps_the_model_so_far():
    started = threading.Event()

    def interrupt():
        started.wait()
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    begun = time.monotonic()
    result = lamina.train(frame(), "price", on_epoch=lambda record: started.set(), **{**SETTINGS, "epochs": 10_000_000})
    assert result.stop_reason == "interrupted" and time.monotonic() - begun < 20
    assert np.isfinite(result.model.predict(frame())).all()


def test_errors_are_the_programs(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothere.csv"):
        lamina.train(tmp_path / "nothere.csv")
    with pytest.raises(FileNotFoundError) as caught:
        lamina.Model.load(tmp_path / "nothere.safetensors")
    assert isinstance(caught.value, lamina.Error) and caught.value.code == "not_found"
    with pytest.raises(ValueError, match="learning-rat") as wrong:
        lamina.train(frame(), "price", learning_rat=0.1)
    assert wrong.value.code in ("invalid_argument", "not_found")
    with pytest.raises(ValueError, match=r"^sync_steps was removed: .*Leave it out"):
        lamina.train(frame(), "price", sync_steps=4)
    with pytest.raises(lamina.Error, match="cost"):
        lamina.train(frame(), "cost")
    (tmp_path / "bad.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="bad.safetensors"):
        lamina.Model.load(tmp_path / "bad.safetensors")
    with pytest.raises(ArithmeticError, match="diverged"):
        lamina.train(frame(), "price", epochs=50, hidden=[8], activation="relu", optimizer="sgd", learning_rate=1e6, task="regression")


def test_every_setting_has_a_name():
    assert {"epochs", "learning_rate", "hidden", "class_weights", "model"} <= set(lamina.settings())
    result = lamina.train(frame(), "price", split=[0.7, 0.2, 0.1], **SETTINGS)
    assert result.test["samples"] == 20 or json.dumps(result.test)
    assert result.report["test"] == result.test
    assert result.report["epochs"] == len(result.history)
    assert result.report["settings"]["epochs"] == len(result.history)
    assert "history" not in result.report


def test_notes_say_what_was_decided(caplog):
    data = frame()
    data.insert(0, "key", [f"k{i}" for i in range(len(data))])
    with caplog.at_level("INFO", logger="lamina"):
        result = lamina.train(data, "price", **SETTINGS)
    assert result.notes[0] == "price: regression"
    assert any(note.startswith("key: left out: ") and note.endswith("(else use='key')") for note in result.notes)
    assert [record.getMessage() for record in caplog.records] == result.notes


def test_many_whole_numbers_are_numbers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    for count, classes in ((20, True), (21, False), (61, False)):
        for kind in (int, float):
            data = pandas.DataFrame({"x": x, "n": (np.arange(600) % count).astype(kind)})
            assert bool(lamina.train(data, "n", epochs=1).model.classes) == classes


@pytest.mark.parametrize("double", [
    lambda f: pandas.concat([f, f[["size"]]], axis=1),
    lambda f: pytest.importorskip("pyarrow").table([f["colour"], f["size"], f["size"]], names=["colour", "size", "size"]),
])
def test_two_columns_of_one_name_are_refused(double):
    pytest.importorskip("sklearn")
    data = frame()
    model = lamina.train(data, "price", **SETTINGS).model
    for call in (lambda: lamina.train(double(data)), lambda: model.predict(double(data)),
                 lambda: lamina.MLPRegressor(max_iter=1).fit(double(data), data["price"])):
        with pytest.raises(ValueError, match="several columns called 'size'"):
            call()


def test_every_kind_of_column_of_pandas():
    data = frame()
    days = pandas.date_range("2024-01-01", periods=len(data))
    kinds = {
        "zoned": days.tz_localize("Europe/Berlin"), "date": days.date, "period": days.to_period("D"),
        "duration": days - days[0], "unsigned": np.arange(len(data), dtype=np.uint64), "codes": pandas.Categorical(data.index % 3),
        "gaps": pandas.Series([pandas.NA if i % 7 == 0 else i % 5 for i in range(len(data))], dtype=object),
        "words": pandas.Series([pandas.NA if i % 7 == 0 else "ab"[i % 2] for i in range(len(data))], dtype=object),
        "big": np.arange(len(data)).astype(">f8"), "long": np.arange(len(data)).astype(np.longdouble),
    }
    for name, values in kinds.items():
        table = pandas.DataFrame({name: values, "size": data["size"], "price": data["price"]})
        model = lamina.train(table, "price", missing="mean", use=[name], **SETTINGS).model
        assert np.isfinite(model.predict(table)).all(), name
    with pytest.raises(ValueError, match="'odd'"):
        lamina.train(pandas.DataFrame({"odd": [[1]] * 9, "price": range(9)}))


@pytest.mark.parametrize("kind", ["int64", "float64", "bool", "str", "category of str", "category of int"])
def test_predicted_classes_have_the_type_of_their_column(kind):
    x = np.random.default_rng(0).normal(size=300)
    classes = (x > 0).astype(int)
    column = {"str": lambda: pandas.Series(classes).map({0: "low", 1: "high"}), "category of int": lambda: pandas.Categorical(classes),
              "category of str": lambda: pandas.Categorical(np.where(classes, "high", "low"))}.get(kind, lambda: classes.astype(kind))()
    data = pandas.DataFrame({"x": x, "n": column})
    model = lamina.train(data, "n", epochs=20, hidden=[8], learning_rate=0.05, batch=16).model
    for each in (model, pickle.loads(pickle.dumps(model))):
        assert (each.predict(data) == data.n).mean() > 0.95


def test_one_network_answers_as_an_ensemble():
    data, new = frame(120), frame(200, seed=1)
    many = lamina.train(data, "price", effort="best", time_limit="1s", task="regression").model
    one = many.distill(data[["colour", "size"]], hidden=[32], epochs=80)  # no target
    assert len(one.networks) == 1 and one.training["distilled"]["rows"] == 120
    assert np.corrcoef(many.predict(new), one.predict(new))[0, 1] > 0.98
    with pytest.raises(ValueError, match="3 rows"):
        many.distill(data[:3])


def test_soft_targets_are_columns_of_the_table():
    data = frame()
    data["teacher"] = data["price"] + 5
    taught = lamina.train(data, "price", soft_target=["teacher"], recipe="plain", split=[1, 0, 0], **SETTINGS).model
    assert taught.columns == ["colour", "size"]
    assert abs(np.mean(taught.predict(data) - data["teacher"])) < 1
    with pytest.raises(ValueError, match="soft-target|soft_target"):
        lamina.train(data, "price", soft_target=["teacher", "size"], **SETTINGS)
