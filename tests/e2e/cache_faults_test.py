"""The compile cache under fire: killed writers, racing processes, corrupted bytes, full and read-only
disks. Whatever happens, a compile that ends gives the right result.

The test suite runs a short version. A long one is asked for by --rounds:

    BATON=build/release/baton python3 tests/e2e/cache_faults_test.py --rounds 300

Two mounts of a network file system are given by --mounts:

    BATON=build/release/baton python3 tests/e2e/cache_faults_test.py --mounts /mnt/a,/mnt/b Faults.test_two_mounts
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile

from baton import BATON, Case, main

ROUNDS = 4  # how often, or of how much, each test tries
MOUNTS = None  # two mounts of one file system

SOURCE = """
#include "constant.cuh"
extern "C" __global__ void k(float* p) {{ p[threadIdx.x] = p[threadIdx.x] * CONSTANT + {number}.0f; }}
"""


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def mount(*arguments):
    """Whether a mount is allowed here."""
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, check=False)
    return done.returncode == 0


def locks_span(here, there):
    """Whether a lock of a file by one path is seen by the other: not so on some network disks."""
    with open(here / "probe", "w", encoding="utf-8") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        script = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        asked = subprocess.run([sys.executable, "-c", script, there / "probe"], capture_output=True, check=False)
    (here / "probe").unlink()
    return asked.returncode != 0


@contextlib.contextmanager
def small_disk(folder, size):
    """A disk of its own, where that is allowed; else nothing."""
    folder.mkdir()
    if not (os.geteuid() == 0 and shutil.which("mount") and
            mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)):
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(20260727)
        self.cache = self.folder / "cache"
        self.write("constant.cuh", "#define CONSTANT 3.0f\n")
        self.wanted = {}

    def source(self, number):
        path = self.folder / f"k{number}.cu"
        if not path.exists():
            path.write_text(SOURCE.format(number=number), encoding="utf-8")
        return path

    def start(self, number, output, cache=None, preexec=None, **environment):
        """A compile of source `number` in a process of its own."""
        settings = dict(os.environ, BATON_DEVICE="sim", BATON_CACHE_DIR=str(cache or self.cache))
        for name in ("BATON_CACHE_SIZE", "BATON_LOG"):
            settings.pop(name, None)
        settings.update(environment)
        return subprocess.Popen(
            [BATON, "compile", self.source(number), "--arch", "sm_90", "--cubin", "-o", output,
             "--json"],
            env=settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=preexec)

    def finish(self, process, number, output):
        """Its JSON; its machine code is held against that of a compile without a cache."""
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err.decode())
        self.assertEqual(digest(output), self.right(number), "a wrong result")
        return json.loads(out)

    def compile(self, number, **settings):
        output = self.folder / f"out-{threading.get_ident()}.cubin"
        return self.finish(self.start(number, output, **settings), number, output)

    def right(self, number):
        if number not in self.wanted:
            output = self.folder / f"right-{number}.cubin"
            process = self.start(number, output, BATON_CACHE_SIZE="0")
            self.assertEqual((process.communicate(timeout=300), process.returncode)[1], 0)
            self.wanted[number] = digest(output)
        return self.wanted[number]

    def verified(self, **settings):
        self.check(self.baton("cache", "verify", BATON_CACHE_DIR=str(self.cache), **settings), 0)

    def counted(self, cache=None):
        return self.baton("cache", "stats", "--json",
                          BATON_CACHE_DIR=str(cache or self.cache)).json()

    def entry(self):
        return next(self.cache.rglob("*.entry"))

    def test_killed_writers(self):
        """Killed at any moment of its life, a process leaves nothing that stops or misleads others."""
        self.right(0)
        begin = time.monotonic()
        self.compile(0)
        whole = time.monotonic() - begin
        killed = 0
        for number in range(1, 1 + 5 * ROUNDS):
            victim = self.start(number, self.folder / "victim.cubin")
            time.sleep(self.random.uniform(0, 1.1 * whole))
            killed += victim.poll() is None
            victim.kill()
            victim.communicate()
            self.verified()
            self.compile(number)
            self.assertTrue(self.compile(number)["cache_hit"])
        print(f"{killed} of {5 * ROUNDS} were killed before their end")
        self.assertGreater(killed, 0)
        self.verified()

    def test_racing_processes(self):
        """Of eight that compile the same thing, one compiles."""
        for number in range(ROUNDS):
            outputs = [self.folder / f"race-{i}.cubin" for i in range(8)]
            processes = [self.start(number, output) for output in outputs]
            results = [self.finish(process, number, output)
                       for process, output in zip(processes, outputs)]
            self.assertEqual(sum(not result["cache_hit"] for result in results), 1)
        counted = self.counted()
        self.assertEqual((counted["misses"], counted["hits"]), (ROUNDS, 7 * ROUNDS))

    def test_killed_among_racers(self):
        """Where the one that compiles is killed, another takes over."""
        for number in range(ROUNDS):
            outputs = [self.folder / f"race-{i}.cubin" for i in range(4)]
            processes = [self.start(number, output) for output in outputs]
            time.sleep(self.random.uniform(0.01, 0.1))
            processes[0].kill()
            processes[0].communicate()
            for process, output in list(zip(processes, outputs))[1:]:
                self.finish(process, number, output)
            self.assertTrue(self.compile(number)["cache_hit"])
            self.verified()

    def test_corrupted_bytes(self):
        """An entry with a wrong byte, at any offset, is seen, made anew and counted."""
        self.compile(0)
        entry = self.entry()
        whole = entry.read_bytes()
        offsets = range(len(whole))
        if len(whole) > 5 * ROUNDS:
            offsets = [0, 8, 12, 16, 24, 32, 96, len(whole) - 1,
                       *self.random.sample(range(len(whole)), 5 * ROUNDS)]
        for repairs, offset in enumerate(offsets):
            damaged = bytearray(whole)
            damaged[offset] ^= 1 << self.random.randrange(8)
            entry.write_bytes(damaged)
            self.check(self.baton("cache", "verify", BATON_CACHE_DIR=str(self.cache)), 1)
            self.assertFalse(self.compile(0)["cache_hit"], offset)
            self.assertTrue(self.compile(0)["cache_hit"], offset)
            self.assertEqual(self.counted()["repairs"], repairs + 1)
        for size in (0, 1, 95, 96, len(whole) // 2, len(whole) - 1):
            entry.write_bytes(whole[:size])
            self.assertFalse(self.compile(0)["cache_hit"], size)

    def test_limited_files(self):
        """A limit on the size of files cuts writes short, as a full disk does."""
        def limit(size):
            def set_up():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            return set_up
        self.right(0)
        # The output needs some 5 KB, the entry more.
        size = len(pathlib.Path(self.folder / "right-0.cubin").read_bytes())
        for most in self.random.sample(range(size, size + 600), ROUNDS):
            self.assertFalse(self.compile(0, preexec=limit(most))["cache_hit"])
            self.assertEqual(self.counted()["entries"], 0)
            self.assertEqual(list(self.cache.rglob("*.tmp")), [])
        self.compile(0)
        self.assertTrue(self.compile(0)["cache_hit"])

    @contextlib.contextmanager
    def two_paths(self):
        """Two paths of one folder that is not there yet: mounts where that is allowed."""
        if MOUNTS:
            name = f"baton-cache-{os.getpid()}"
            paths = [pathlib.Path(mount) / name for mount in MOUNTS]
            print(f"the paths are {paths[0]} and {paths[1]}")
            try:
                yield paths
            finally:
                shutil.rmtree(paths[0])
            return
        real, other = self.folder / "real", self.folder / "other"
        real.mkdir()
        other.mkdir()
        is_mounted = (os.geteuid() == 0 and shutil.which("mount") is not None and
                      mount("--bind", real, other))
        if not is_mounted:
            other.rmdir()
            other.symlink_to(real)
        print(f"the second path is a {'mount' if is_mounted else 'symbolic link'}")
        try:
            yield [real / "cache", other / "cache"]
        finally:
            if is_mounted:
                subprocess.run(["umount", str(other)], check=True)

    def test_two_mounts(self):
        """Of processes that know one folder by two paths, one compiles; without locks, one by each path."""
        with self.two_paths() as paths:
            most = 1 if locks_span(paths[0].parent, paths[1].parent) else 2
            for number in range(ROUNDS):
                outputs = [self.folder / f"race-{i}.cubin" for i in range(8)]
                processes = [self.start(number, output, cache=paths[i % 2])
                             for i, output in enumerate(outputs)]
                processes[0].kill()
                processes[0].communicate()
                results = [self.finish(process, number, output)
                           for process, output in list(zip(processes, outputs))[1:]]
                self.assertLessEqual(sum(not result["cache_hit"] for result in results), most)
                for path in paths:
                    self.check(self.baton("cache", "verify", BATON_CACHE_DIR=str(path)), 0)
                    self.assertTrue(self.compile(number, cache=path)["cache_hit"])

    def test_two_mounts_export_and_import(self):
        """What is exported by one path is imported, and read as a layer, by the other."""
        with self.two_paths() as (here, there):
            for number in range(ROUNDS):
                self.compile(number)
            for target in ("folder", "file.zip"):
                exports = [self.baton_of("export", here.parent / f"{here.name}-{target}", self.cache)
                           for _ in range(2)]
                for export in exports:
                    _, told = export.communicate(timeout=300)
                    self.assertEqual((export.returncode, told), (0, b""))
                caches = [here / f"of-{target}", there / f"of-{target}"]
                imports = [self.baton_of("import", there.parent / f"{there.name}-{target}", cache)
                           for cache in caches]
                for each in imports:
                    _, told = each.communicate(timeout=300)
                    self.assertEqual((each.returncode, told), (0, b""))
                for number in range(ROUNDS):
                    for cache in caches:
                        self.assertTrue(self.compile(number, cache=cache)["cache_hit"], (target, cache))
            self.assertTrue(self.compile(0, cache=self.folder / "empty",
                                         BATON_CACHE_LAYERS=f"{there}-folder")["cache_hit"])
            shutil.rmtree(f"{here}-folder")
            os.remove(f"{here}-file.zip")
            here.mkdir(exist_ok=True)

    @staticmethod
    def baton_of(action, target, cache):
        """`baton cache ACTION TARGET` of a cache, begun."""
        return subprocess.Popen([BATON, "cache", action, target], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, env=dict(os.environ, BATON_CACHE_DIR=str(cache)))

    def test_layers(self):
        """What another cache has is a hit, and that cache stays as it is."""
        shipped = self.folder / "shipped"
        for number in range(ROUNDS):
            self.compile(number)
        self.check(self.baton("cache", "export", shipped, BATON_CACHE_DIR=str(self.cache)), 0)
        shutil.rmtree(self.cache)
        before = {path: (path.stat().st_mtime_ns, path.is_file() and digest(path))
                  for path in shipped.rglob("*")}
        layers = f"{self.folder / 'none'}:{shipped}"
        for number in range(ROUNDS):
            self.assertTrue(self.compile(number, BATON_CACHE_LAYERS=layers)["cache_hit"])
        self.assertFalse(self.compile(ROUNDS, BATON_CACHE_LAYERS=layers)["cache_hit"])
        self.assertEqual(self.counted()["entries"], 1)
        told = self.baton("cache", "stats", BATON_CACHE_DIR=str(self.cache), BATON_CACHE_LAYERS=layers).out
        self.assertIn("none/compile: a layer, which is not there", told)
        self.assertIn("shipped/compile: a layer, read and never written", told)
        after = {path: (path.stat().st_mtime_ns, path.is_file() and digest(path))
                 for path in shipped.rglob("*")}
        self.assertEqual(before, after)
        result = self.baton("cache", "import", shipped, BATON_CACHE_DIR=str(self.cache))
        self.check(result, 0)
        self.assertIn(f"{ROUNDS} entries imported", result.out)
        for number in range(ROUNDS):
            self.assertTrue(self.compile(number)["cache_hit"])
        self.check(self.baton("cache", "import", self.folder / "none"), 2, "has no compile cache")
        self.check(self.baton("cache", "import"), 2, "needs a folder")
        self.check(self.baton("cache", "stats", shipped), 2, "takes no folder")

    def test_one_file(self):
        shipped = self.folder / "cache.zip"
        for number in range(3):
            self.compile(number)
        self.check(self.baton("cache", "export", shipped, BATON_CACHE_DIR=str(self.cache)), 0)
        with zipfile.ZipFile(shipped) as archive:
            self.assertIsNone(archive.testzip())
            archive.extractall(self.folder / "unpacked")
        shutil.rmtree(self.cache)
        self.assertTrue(self.compile(0, BATON_CACHE_LAYERS=str(self.folder / "unpacked"))["cache_hit"])

        def imported(path, status, *parts):
            result = self.baton("cache", "import", path, BATON_CACHE_DIR=str(self.cache))
            self.check(result, status, *(parts if status else ()))
            for part in parts if status == 0 else ():
                self.assertIn(part, result.out)

        imported(shipped, 0, "3 entries imported", "0 there already")
        imported(shipped, 0, "0 entries imported", "3 there already")
        for number in range(3):
            self.assertTrue(self.compile(number)["cache_hit"])
        shutil.rmtree(self.cache)
        whole = shipped.read_bytes()
        other = self.folder / "other"
        with zipfile.ZipFile(shipped) as archive:
            first = archive.infolist()[0]
        place = whole.index(b"BATONCMP") + 200
        other.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
        imported(other, 0, "2 entries imported", "1 damaged")
        for size in (0, 10, 5000, len(whole) - 1):
            other.write_bytes(whole[:size])
            imported(other, 2, "other")
        with zipfile.ZipFile(other, "w") as archive:
            archive.writestr("../compile/ab/x.entry", "no entry")
        imported(other, 2, "has no entry of a compile cache")
        with zipfile.ZipFile(shipped) as archive, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(first.filename, archive.read(first.filename))
        imported(other, 2, "is compressed")
        imported(self.folder / "none.zip", 2, "none.zip")
        self.check(self.baton("cache", "export", "/nonexistent/c.zip", BATON_CACHE_DIR=str(self.cache)), 2,
                   "/nonexistent/c.zip")

    def test_full_disk(self):
        disk = self.folder / "disk"
        with small_disk(disk, "64k") as mounted:
            if not mounted:
                self.skipTest("no disk can be mounted here")
            for number in range(8 + ROUNDS):
                self.compile(number, cache=disk)
            self.assertTrue(self.compile(0, cache=disk)["cache_hit"])
            counted = self.counted(disk)
            self.assertLess(counted["entries"], 8 + ROUNDS)
            self.assertLessEqual(counted["bytes"], 64 << 10)
            # With a limit it makes room for itself.
            for number in range(8 + ROUNDS):
                self.compile(number, cache=disk, BATON_CACHE_SIZE="20K")
            self.assertTrue(self.compile(7 + ROUNDS, cache=disk)["cache_hit"])
            self.assertEqual(list(disk.rglob("*.tmp")), [])
            # Not one byte left, and no file can be made.
            with contextlib.suppress(OSError), open(disk / "filler", "wb") as filler:
                while True:
                    filler.write(bytes(512))
                    filler.flush()
            self.compile(100, cache=disk)
            self.assertTrue(self.compile(7 + ROUNDS, cache=disk)["cache_hit"])

    def test_read_only_disk(self):
        disk = self.folder / "disk"
        with small_disk(disk, "1m") as mounted:
            if not mounted:
                self.skipTest("no disk can be mounted here")
            self.compile(0, cache=disk)
            self.assertTrue(mount("-o", "remount,ro", disk))
            for number in range(1, ROUNDS):
                self.assertTrue(self.compile(0, cache=disk)["cache_hit"])
                for _ in range(2):
                    self.assertFalse(self.compile(number, cache=disk)["cache_hit"])
                # An empty one, as well.
                self.assertFalse(self.compile(0, cache=disk / f"elsewhere-{number}")["cache_hit"])

    def test_no_place(self):
        """Nowhere to keep anything: no HOME, or something that is no folder."""
        settings = {k: v for k, v in os.environ.items()
                    if k not in ("HOME", "XDG_CACHE_HOME", "BATON_CACHE_DIR")}
        done = subprocess.run([BATON, "compile", self.source(0), "--arch", "sm_90"],
                              env=dict(settings, BATON_DEVICE="sim"), capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        places = ("/dev/null", "/proc/nowhere", "/proc/self/mem", "/dev/full")
        for number in range(ROUNDS):
            place = places[number % len(places)]
            self.assertFalse(self.compile(number // 2, cache=place)["cache_hit"], place)

    def test_everything_at_once(self):
        """Writers, readers, vandals, evictions and removals: what ends gives the right result."""
        for number in range(4):
            self.right(number)
        deadline = time.monotonic() + 2 * ROUNDS
        failures = []

        def work(seed):
            choice = random.Random(seed)
            output = self.folder / f"chaos-{seed}.cubin"
            try:
                while time.monotonic() < deadline:
                    number = choice.randrange(4)
                    process = self.start(number, output,
                                         BATON_CACHE_SIZE=choice.choice(["12K", "20K", "1M"]))
                    if choice.random() < 0.3:
                        time.sleep(choice.uniform(0, 0.15))
                        process.kill()
                        process.communicate()
                        continue
                    self.finish(process, number, output)
            except Exception as failure:  # pylint: disable=broad-except
                failures.append(failure)

        def vandalise():
            choice = random.Random(99)
            while time.monotonic() < deadline:
                time.sleep(0.05)
                with contextlib.suppress(OSError):  # files come and go
                    files = [path for path in self.cache.rglob("*") if path.is_file()]
                    path = choice.choice(files or [self.cache])
                    action = choice.randrange(4)
                    if action == 0:
                        path.unlink()
                    elif action == 1:
                        os.truncate(path, choice.randrange(1 + path.stat().st_size))
                    else:
                        with open(path, "r+b") as file:
                            file.seek(choice.randrange(1 + path.stat().st_size))
                            file.write(bytes([choice.randrange(256)]))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        threads.append(threading.Thread(target=vandalise))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        # When the dust has settled, all is repaired at the next use.
        for number in range(4):
            self.compile(number)
            self.assertTrue(self.compile(number)["cache_hit"])


if __name__ == "__main__":
    if "--rounds" in sys.argv:
        at = sys.argv.index("--rounds")
        ROUNDS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if "--mounts" in sys.argv:
        at = sys.argv.index("--mounts")
        MOUNTS = sys.argv[at + 1].split(",")
        del sys.argv[at:at + 2]
    main()
