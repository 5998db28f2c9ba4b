"""The interpreter and its packages are the ones Bazel fetched, and nothing of the machine's Python takes part."""

import os
import pathlib
import re
import subprocess
import sys
import types
import unittest

RUNFILES = os.environ["RUNFILES_DIR"] if "RUNFILES_DIR" in os.environ else os.environ["TEST_SRCDIR"]


# What a program takes from the machine: the parts of glibc.
LIBC = re.compile(r"(ld-linux-x86-64|lib(c|m|dl|pthread|resolv|rt|util|nss_\w+))\.so\.\d")


class IsolationTest(unittest.TestCase):
    def test_interpreter_lies_in_runfiles(self):
        for name in ("prefix", "exec_prefix", "executable"):
            self.assertTrue(getattr(sys, name).startswith(RUNFILES), f"sys.{name} is {getattr(sys, name)}")

    def test_path_holds_nothing_of_the_machine(self):
        trees = {
            os.path.realpath(pathlib.Path(RUNFILES) / sys.prefix),
            os.path.realpath(sys.executable).rpartition("/bin/")[0],
        }
        for entry in sys.path:
            real = os.path.realpath(entry)
            self.assertTrue(entry.startswith(RUNFILES) or any(real.startswith(tree) for tree in trees), entry)
        self.assertFalse([entry for entry in sys.path if "dist-packages" in entry or ".local" in entry])

    def test_user_site_is_ignored_without_environment(self):
        program = "import site, sys; print(site.ENABLE_USER_SITE, [p for p in sys.path if '.local' in p])"
        said = subprocess.run(
            [sys.executable, "-c", program],
            env={"HOME": os.environ.get("TEST_TMPDIR", "/")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertEqual(said.strip(), "False []")


class StartTest(unittest.TestCase):
    def test_the_c_library_computes_without_fused_multiply_add(self):
        program = "import os, sys; print(os.environ['GLIBC_TUNABLES'], sys.argv[1:], sys.stdin.read())"
        environment = {**os.environ, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2:glibc.malloc.perturb=0"}
        path = os.pathsep.join(sys.path)
        said = subprocess.run(
            [sys.executable, "-c", program, "one", ""],
            env={**environment, "PYTHONPATH": path},
            input="input",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertEqual(said.strip(), "glibc.malloc.perturb=0:glibc.cpu.hwcaps=-FMA,-FMA4 ['one', ''] input")


def file_of(module: types.ModuleType) -> str:
    assert module.__file__, f"{module.__name__} has no file"
    return module.__file__


class PackagesTest(unittest.TestCase):
    tensorflow: types.ModuleType
    tf_agents: types.ModuleType
    gin: types.ModuleType

    @classmethod
    def setUpClass(cls):
        import gin  # pylint: disable=import-outside-toplevel
        import tensorflow  # pylint: disable=import-outside-toplevel
        import tf_agents  # pylint: disable=import-outside-toplevel

        cls.tensorflow, cls.tf_agents, cls.gin = tensorflow, tf_agents, gin

    def test_they_lie_in_the_site_directory(self):
        for module in (self.tensorflow, self.tf_agents, self.gin):
            self.assertTrue(file_of(module).startswith(RUNFILES), module.__file__)
            self.assertIn("/site/", file_of(module))

    def test_keras_is_the_one_tf_agents_needs(self):
        from tf_agents.networks import actor_distribution_network  # pylint: disable=import-outside-toplevel

        self.assertEqual(os.environ["TF_USE_LEGACY_KERAS"], "1")
        self.assertTrue(self.tensorflow.keras.layers.Layer.__module__.startswith("tf_keras."))
        self.assertTrue(
            issubclass(actor_distribution_network.ActorDistributionNetwork, self.tensorflow.keras.layers.Layer)
        )

    def test_tensorflow_computes_and_converts(self):
        tf = self.tensorflow
        function = tf.function(tf.nn.relu).get_concrete_function(tf.TensorSpec([1, 3]))
        self.assertEqual(function(tf.constant([[-1.0, 0.0, 2.0]])).numpy().tolist(), [[0.0, 0.0, 2.0]])
        self.assertEqual(tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()[4:8], b"TFL3")

    def test_loaded_libraries_are_fetched_ones_but_for_libc(self):
        import ctypes  # pylint: disable=import-outside-toplevel
        import sqlite3  # pylint: disable=import-outside-toplevel
        import ssl  # pylint: disable=import-outside-toplevel

        self.assertTrue(ctypes.sizeof(ctypes.c_long) and sqlite3.sqlite_version and ssl.OPENSSL_VERSION)
        fetched = (
            os.path.realpath(sys.executable).rpartition("/bin/")[0],
            os.path.realpath(file_of(self.tensorflow)).rpartition("/tensorflow/")[0],
            # Of the first site, which holds NumPy too.
            os.path.realpath(file_of(self.gin)).rpartition("/gin/")[0],
        )
        maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
        libraries = set(re.findall(r"/\S+\.so(?:\.\S+)?$", maps, re.MULTILINE))
        self.assertTrue(any("libstdc++" in name for name in libraries), libraries)
        for name in libraries:
            self.assertTrue(os.path.realpath(name).startswith(fetched) or LIBC.match(os.path.basename(name)), name)

    def test_headers_are_beside_the_site_not_in_it(self):
        folder = pathlib.Path(file_of(self.tensorflow)).parent
        self.assertFalse((folder / "include").exists())
        self.assertFalse((folder / "xla_aot_runtime_src").exists())


if __name__ == "__main__":
    unittest.main()
