"""What people do in the page that trains: stop and go on, runs and tabs, leaving, typed values, the keyboard alone."""

import os
import re
import sys
import threading

from lamina_cli import SOURCE, blob_rows, linear_rows, main, read_safetensors
from web_page import WebPageTest

sys.path.insert(0, os.path.join(SOURCE, "web", "train"))
import serve  # noqa: E402

LONG = {"epochs": "200000", "recipe": "plain", "hidden": "64"}  # ends by Stop


class FlowsTest(WebPageTest):
    def start_long(self, tab):
        self.write("blobs.csv", blob_rows(600))
        self.assertRegex(self.open_data(tab, "blobs.csv"), "^Ready: 2 classes of answer")
        self.act(tab, f"""
            find("details").open = true;
            await startTraining({LONG!r});
            await wait(() => /^Epoch [0-9]+ of/.test(find("section:not([hidden]) p[role=status]").textContent));
            """)

    def state(self, tab):
        return self.act(tab, "return find('section:not([hidden]) p[role=status]').textContent;")

    def stop(self, tab):
        """Epochs until then."""
        said = self.act(tab, """
            find(".banner").hidden = true;
            button("Stop").click();
            await wait(() => !isTraining());
            return bannerText() || find("section:not([hidden]) p[role=status]").textContent;
            """)
        self.assertRegex(said, r"^Stopped after \d+ epochs in ")
        return int(re.search(r"after (\d+) epochs", said)[1])

    def test_stop_and_go_on(self):
        tab = self.browser()
        self.start_long(tab)
        first = self.stop(tab)
        self.act(tab, """
            button("Go on").click();
            await wait(() => isTraining());
            const now = () => Number(/^Epoch ([0-9]+) of/.exec(find("section:not([hidden]) p[role=status]").textContent)?.[1] ?? 0);
            await wait(() => now() > 0);
            """)
        second = self.stop(tab)
        self.assertGreater(second, first)
        runs = self.act(tab, "press('Results'); await wait(() => cellsOf('Runs').length > 0); return cellsOf('Runs');")
        self.assertEqual(len(runs), 1)  # one run, which went on
        self.assertIn("hidden 64", runs[0][3])
        self.assertGreater(float(self.act(tab, "return headline();").split()[0]), 90)

    def test_a_network_and_a_kernel_machine(self):
        """The curve grows; Stop within the machine keeps the network, and Go on trains the machine."""
        self.write("blobs.csv", blob_rows(3000))
        tab = self.browser()
        self.open_data(tab, "blobs.csv")
        said = self.act(tab, """
            find("details").open = true;
            await startTraining({ epochs: "64", hidden: "256,256", recipe: "mixed" });
            const state = () => find("section:not([hidden]) p[role=status]").textContent;
            const seen = new Set();
            await wait(() => {
              seen.add(find("polyline.training")?.getAttribute("points").split(" ").length ?? 0);
              return state().startsWith("The network is trained.");
            });
            await wait(() => find("polyline.training").getAttribute("points").split(" ").length === 64);
            return [...seen].filter((count) => count > 0 && count < 64).length;
            """)
        self.assertGreater(said, 1)
        self.assertEqual(self.stop(tab), 64)
        alone = self.act(tab, "press('Results'); await wait(() => isComplete()); return [headline(), cellsOf('Runs').length];")
        self.assertEqual(alone[1], 1)
        self.assertGreater(float(alone[0].split()[0]), 90)
        self.act(tab, "press('Model'); await wait(() => find('section:not([hidden]) .below').textContent.startsWith('Network'));")
        self.assertEqual(self.parameters_of_kernels(tab), 0)
        self.act(tab, "press('Training'); await wait(() => !button('Go on').disabled); button('Go on').click(); await trained();")
        self.assertGreater(float(self.act(tab, "return headline();").split()[0]), 90)
        self.act(tab, "press('Model');")
        self.assertGreater(self.parameters_of_kernels(tab), 1000)

    def parameters_of_kernels(self, tab):
        """Those of the model's second network."""
        tensors = read_safetensors(self.downloaded(tab, "Save model", "blobs.safetensors"))[1]
        return sum(len(each) for name, each in tensors.items() if name.startswith("network.2."))

    def test_stops_by_itself(self):
        tab = self.browser()
        self.start_long(tab)
        self.stop(tab)
        for text, says in (("0.3", ""), ("soon", "takes a number of seconds"), ("-1", "takes a number of seconds")):
            said = self.act(tab, f"""
                find("#limit").value = {text!r};
                button("Go on").click();
                await wait(() => bannerText() !== "" || isTraining());
                await wait(() => !isTraining());
                return bannerText();
                """)
            self.assertIn(says, said)
            self.assertEqual(bool(said), bool(says))

    def test_other_work_waits_while_it_trains(self):
        self.write("other.csv", linear_rows(60))
        tab = self.browser()
        self.start_long(tab)
        tab.choose_files("#file", self.path("other.csv"))
        self.assertIn("stop that first", self.act(tab, "await wait(() => bannerText() !== ''); return bannerText();"))
        self.assertTrue(self.act(tab, "return isTraining();"))
        self.stop(tab)
        self.assertRegex(self.open_data(tab, "other.csv"), "^Ready: the number y")

    def test_a_method_without_epochs(self):
        self.write("line.csv", linear_rows(300))
        tab = self.browser()
        self.open_data(tab, "line.csv")
        self.assertRegex(self.train(tab, effort="normal"), "^R² 0.99|^R² 1")
        said = self.act(tab, "return { pictures: all('.results figure svg').length, text: find('.below.lines').textContent };")
        self.assertEqual(said["pictures"], 1)
        self.assertIn("RMSE", said["text"])

    def test_a_method_without_epochs_is_given_up(self):
        self.write("blobs.csv", blob_rows(1200))
        tab = self.browser()
        self.open_data(tab, "blobs.csv")
        said = self.act(tab, """
            await startTraining({ effort: "normal" });
            const state = () => find("section:not([hidden]) p[role=status]").textContent;
            await wait(() => state().startsWith("Computing in one go"));
            button("Stop").click();
            await wait(() => !isTraining());
            return [state(), button("Go on").disabled];
            """)
        self.assertEqual(said, ["Stopped. This method keeps nothing of a run that has not ended.", True])
        self.assertGreater(float(self.train(tab, recipe="plain", epochs="5").split()[0]), 90)

    def test_settings_are_checked_as_they_are_typed(self):
        tab = self.browser()
        self.write("blobs.csv", blob_rows(80))
        self.open_data(tab, "blobs.csv")
        for name, text in (("learning-rate", "-1"), ("epochs", "-3"), ("hidden", "-4"), ("split", "0.9,0.9,0.9")):
            said = self.act(tab, f"""
                press("Training");
                find("details").open = true;
                const control = find("#setting-{name}");
                const before = control.value;
                control.value = {text!r};
                control.dispatchEvent(new Event("input", {{ bubbles: true }}));
                await wait(() => control.getAttribute("aria-invalid") === "true" && button("Start training").disabled);
                const said = find("#setting-{name}-problem").textContent;
                control.value = before;
                control.dispatchEvent(new Event("input", {{ bubbles: true }}));
                await wait(() => control.getAttribute("aria-invalid") === "false" && !button("Start training").disabled);
                return said;
                """)
            self.assert_refused_alike(said, "train", "blobs.csv", f"--{name}={text}")

    def test_runs_are_kept_and_compared_across_tabs(self):
        self.write("blobs.csv", blob_rows(90))
        tab = self.browser()
        self.open_data(tab, "blobs.csv")
        self.train(tab, recipe="plain", epochs="5")
        other = self.opened(tab.tab())
        self.open_data(other, "blobs.csv")
        self.train(other, recipe="plain", epochs="9")
        for each in (other, tab):
            said = self.act(each, """
                press("Results");
                await wait(() => cellsOf("Runs").length === 2);
                for (const tick of all("[aria-label='Runs'] input[type=checkbox]")) tick.click();
                return { settings: cellsOf("Runs").map((row) => row[3]), lines: all(".picture polyline").filter((each) => each.closest("section") &&
                         !each.closest("section").hidden).length, legend: all("section:not([hidden]) .legend li").map((each) => each.textContent) };
                """)
            self.assertEqual(["epochs 5" in said["settings"][0], "epochs 9" in said["settings"][1]], [True, True], said)
            self.assertEqual(said["lines"], 4)
            self.assertEqual(len(set(said["legend"])), 4)
        self.act(tab, """
            all("[aria-label='Runs'] tbody button").find((each) => each.textContent === "Remove").click();
            await wait(() => cellsOf("Runs").length === 1);
            all("[aria-label='Runs'] tbody button").find((each) => each.textContent === "Take its model").click();
            await wait(() => find("iframe").srcdoc.length > 1000);
            """)
        tab.close()
        again = self.browser()
        self.assertEqual(self.act(again, "press('Results'); await wait(() => cellsOf('Runs').length > 0); return cellsOf('Runs').length;"), 1)

    def test_leaving_while_it_trains(self):
        tab = self.browser()
        self.start_long(tab)
        tab.pipe.send(tab.session, "Page.navigate", {"url": "about:blank"})
        self.assertEqual(tab.pipe.event("Page.javascriptDialogOpening")["type"], "beforeunload")
        tab.call("Page.handleJavaScriptDialog", accept=False)
        self.assertTrue(self.act(tab, "return isTraining();"))
        self.stop(tab)
        self.act(tab, "button('Go on').click(); await wait(isTraining);")
        tab.close()  # as by a crash
        again = self.browser()
        self.assertEqual(self.act(again, "press('Results'); await wait(() => cellsOf('Runs').length > 0); return cellsOf('Runs').length;"), 1)

    def test_typed_values(self):
        self.write("blobs.csv", blob_rows(300))
        tab = self.browser()
        self.open_data(tab, "blobs.csv")
        self.train(tab, recipe="plain", epochs="30")
        self.act(tab, "press('Model'); await wait(() => find('iframe').srcdoc.length > 1000);")
        self.downloaded(tab, "Save model", "blobs.safetensors")
        for a, b in (("4", "-3"), ("0", "0")):
            said = tab.run_in_frame(f"""
                await wait(() => find("#c0") ?? all("input[inputmode]").length > 1);
                const [a, b] = all("input[inputmode]");
                for (const [control, text] of [[a, {a!r}], [b, {b!r}]]) {{
                  control.value = text;
                  control.dispatchEvent(new Event("input", {{ bubbles: true }}));
                }}
                await new Promise((done) => setTimeout(done, 400));
                return headline();
                """)
            self.write("row.csv", f"a,b\n{a},{b}\n")
            self.succeed("predict", os.path.join("saved", "blobs.safetensors"), "row.csv", "--out", "p.csv")
            self.assertIn(self.read("p.csv").splitlines()[1].split(",")[-1], said)

    def test_threads_where_a_server_isolates_the_page(self):
        """As many as the browser has processors; a page from a file has one. They learn the same bits."""
        self.write("blobs.csv", blob_rows(600))
        server = serve.server(0, self.folder)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        weights = []
        for address in (None, f"http://127.0.0.1:{server.server_port}/lamina.html"):
            tab = self.browser(address)
            threads, processors = self.act(tab, """
                press("Training");
                const said = all("section:not([hidden]) .hint").find((each) => each.textContent.startsWith("Threads of this page"));
                return [Number(/[0-9]+/.exec(said.textContent)[0]), Math.min(navigator.hardwareConcurrency, 8)];
                """)
            self.assertEqual(threads, processors if address else 1)
            self.open_data(tab, "blobs.csv")
            self.assertGreater(float(self.train(tab, recipe="plain", epochs="9", hidden="256,256", seed="4").split()[0]), 90)
            self.act(tab, "press('Model'); await wait(() => button('Save model'));")
            weights.append(read_safetensors(self.downloaded(tab, "Save model", "blobs.safetensors"))[1])
            tab.close()
        self.assertEqual(weights[0], weights[1])

    def test_the_keyboard_alone(self):
        tab = self.browser()

        def go_to(text):
            for _ in range(400):
                tab.press("Tab")
                now = self.act(tab, "return [document.activeElement.textContent.trim(), document.activeElement.id];")
                if text in now:
                    return
            self.fail(f"Tab does not come to {text}")

        go_to("Digits example")
        tab.press("Enter")
        self.assertRegex(self.act(tab, "return await planned();"), "^Ready: 10 classes")
        go_to("Training")
        tab.press("Enter")
        self.assertEqual(self.act(tab, "return find('h2:focus').textContent;"), "Training")
        go_to("setting-effort")
        tab.press("ArrowUp")  # from normal to quick
        go_to("Start training")
        tab.press(" ")
        self.act(tab, "await trained();")
        self.assertGreater(float(self.act(tab, "return headline();").split()[0]), 90)
        go_to("Model")
        tab.press("Enter")
        tab.save_to(self.path("saved"))
        go_to("Save model")
        tab.press("Enter")
        self.act(tab, "await new Promise((done) => setTimeout(done, 1500));")
        self.assertEqual(os.listdir(self.path("saved")), ["digits.safetensors"])


if __name__ == "__main__":
    main()
