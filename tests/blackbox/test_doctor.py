# SPDX-License-Identifier: Apache-2.0
"""`doctor`: models and their prices, and the noise of the machine."""

import subprocess

import chat_script
import support

# CUDA's driver as far as it is asked, for devices that this machine does not have.
DRIVER = """
#include <string.h>
static const struct { int major, minor; const char* name; int no_mapping; } devices[] = {DEVICES {0, 0, 0}};
int cuInit(unsigned flags) { return flags; }
int cuDriverGetVersion(int* version) { *version = VERSION; return 0; }
int cuDeviceGetCount(int* count) { *count = sizeof devices / sizeof *devices - 1; return 0; }
int cuDeviceGet(int* device, int number) { *device = number; return 0; }
int cuDeviceGetName(char* name, int length, int device) { strncpy(name, devices[device].name, length); return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? devices[device].major : attribute == 76 ? devices[device].minor
         : attribute == 102 ? !devices[device].no_mapping : 0;
  return 0;
}
"""


class Doctor(support.TestCase):
    def configure(self, url, price=""):
        self.workspace.mkdir(exist_ok=True)
        (self.workspace / "accelopt.toml").write_text(
            f'[models.default]\nbase_url = "{url}"\nmodel = "{chat_script.MODEL}"\nkey_env = "BLACKBOX_KEY"\n{price}\n', encoding="utf-8")

    def checks(self):
        finished = self.accelopt("doctor", "--workspace", self.workspace, "--json")
        return finished, {line["name"]: line for line in finished.lines if line["type"] == "check"}

    def test_a_model_that_can_be_used(self):
        server = self.server(chat_script.script(key="right"))
        self.environment["BLACKBOX_KEY"] = "right"
        self.configure(server.url, "price = { input = 1.0, output = 4.0 }")
        _, checks = self.checks()
        for part in ("endpoint", "key", "model", "price"):
            self.assertEqual(checks[f"model default: {part}"]["state"], "ok", checks)
        self.assertEqual(checks["planner"]["detail"], f"{chat_script.MODEL} (default)")
        self.configure(server.url)
        _, checks = self.checks()
        price = checks["model default: price"]
        self.assertEqual(price["state"], "degraded")
        self.assertIn("--max-usd", price["advice"])
        self.assertEqual(server.requests, [], "the model itself was asked nothing")

    def test_what_is_missing_is_said_with_what_to_do(self):
        server = self.server(chat_script.script(key="right"))
        self.configure(server.url)
        for key in ("wrong", None):
            self.environment.pop("BLACKBOX_KEY", None)
            if key:
                self.environment["BLACKBOX_KEY"] = key
            finished, checks = self.checks()
            self.assertEqual(finished.code, 5, finished)
            self.assertEqual(checks["model default: key"]["state"], "missing", checks)
            self.assertTrue(checks["model default: key"]["advice"])
            self.assertNotIn("wrong", finished.out)
        self.environment["BLACKBOX_KEY"] = "right"
        self.configure("http://127.0.0.1:1/v1")
        finished, checks = self.checks()
        self.assertEqual((finished.code, checks["model default: endpoint"]["state"]), (5, "missing"), finished)

    def test_what_cuda_has_and_lacks_is_said_and_is_no_failure(self):
        self.workspace.mkdir(exist_ok=True)
        self.environment["CUDA_HOME"] = "/nowhere"
        finished, checks = self.checks()
        for part in ("nvrtc", "cuda driver"):
            self.assertIn(checks[part]["state"], ("ok", "degraded"), checks)
            self.assertTrue(checks[part]["detail"], checks)
        for name, check in checks.items():
            if name.startswith(("nvrtc", "cuda")) and check["state"] == "degraded":
                self.assertTrue(check["advice"], check)
        missing = [check for check in checks.values() if check["state"] == "missing" and not check["name"].endswith("++")]
        self.assertEqual(finished.code, 5 if missing else 0, finished)

    def cuda_checks(self, version, *devices):
        source = self.folder / "driver.c"
        rows = "".join(f'{{{major}, {minor}, "{name}", {int("virtual memory" in name)}}}, ' for major, minor, name in devices)
        source.write_text(DRIVER.replace("DEVICES", rows).replace("VERSION", str(version)), encoding="utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", self.folder / "libcuda.so.1", source], check=True)
        self.environment["LD_LIBRARY_PATH"] = str(self.folder)
        self.workspace.mkdir(exist_ok=True)
        return self.checks()[1]

    def test_a_device_without_virtual_memory_management_is_said_to_be_no_use(self):
        check = self.cuda_checks(13000, (9, 0, "One without virtual memory"))["cuda:0"]
        self.assertEqual(check["state"], "degraded")
        self.assertIn("without virtual memory management", check["detail"])
        self.assertIn("another device", check["advice"])

    def test_a_driver_and_devices_that_will_do(self):
        checks = self.cuda_checks(13000, (9, 0, "A new one"), (10, 3, "A newer one"))
        self.assertEqual((checks["cuda driver"]["state"], checks["cuda driver"]["detail"]), ("ok", "for CUDA 13.0"))
        self.assertEqual((checks["cuda:0"]["state"], checks["cuda:0"]["detail"]), ("ok", "A new one, compute capability 9.0"))
        self.assertEqual((checks["cuda:1"]["state"], checks["cuda:1"]["detail"]), ("ok", "A newer one, compute capability 10.3"))

    def test_a_driver_that_is_too_old_is_said_to_be(self):
        driver = self.cuda_checks(11080, (9, 0, "A new one"))["cuda driver"]
        self.assertEqual((driver["state"], driver["detail"]), ("degraded", "for CUDA 11.8, which is too old: at least 12.0 is needed"))
        self.assertIn("driver 530 or newer", driver["advice"])

    def test_devices_that_are_too_old_or_were_never_tried_are_said_to_be(self):
        checks = self.cuda_checks(12000, (3, 7, "An old one"), (7, 5, "One of the middle"), (8, 6, "One nobody tried"))
        self.assertEqual(checks["cuda driver"]["state"], "ok", checks)
        for device, capability in (("cuda:0", "3.7"), ("cuda:1", "7.5")):
            self.assertEqual(checks[device]["state"], "degraded", checks)
            self.assertIn(f"compute capability {capability}, which is too old: at least 8.0 is needed", checks[device]["detail"])
            self.assertTrue(checks[device]["advice"], checks)
        self.assertEqual(checks["cuda:2"]["state"], "degraded", checks)
        self.assertIn("compute capability 8.6, accepted and never tried", checks["cuda:2"]["detail"])

    def test_a_driver_without_devices(self):
        checks = self.cuda_checks(13000)
        self.assertEqual(checks["cuda devices"]["state"], "degraded", checks)

    def test_the_noise_is_measured_and_kept(self):
        before = self.accelopt("doctor", "--workspace", self.workspace, "--json").last
        self.assertEqual((before["name"], before["detail"]), ("noise", "not measured in this workspace"))
        finished = self.accelopt("doctor", "--noise", "--workspace", self.workspace, "--json", seconds=90)
        noise = next(line for line in finished.lines if line["type"] == "noise")
        self.assertLess(noise["seconds"], 60)
        self.assertGreater(noise["block_sd"], 0)
        self.assertGreater(noise["delayed_sd"], 0)
        self.assertLessEqual(noise["false_finds"], noise["races"])
        differences = [level["difference"] for level in noise["levels"]]
        self.assertEqual(differences, sorted(differences))
        for level in noise["levels"]:
            self.assertLessEqual(0, level["found"])
            self.assertLessEqual(level["found"], level["races"])
            if noise["smallest_found"] is not None and level["difference"] >= noise["smallest_found"]:
                self.assertGreaterEqual(level["found"], level["races"] - 1)
        after = self.accelopt("doctor", "--workspace", self.workspace, "--json").last
        self.assertIn(noise["measured"], after["detail"])
        ran = self.accelopt("run", self.task(), "--workspace", self.workspace, "--json", "--iterations", 1, "--plans", 1)
        self.assertEqual(ran.last["noise"], {key: value for key, value in noise.items() if key not in ("type", "schema")})


if __name__ == "__main__":
    support.main()
