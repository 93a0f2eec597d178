"""`baton exec --gdb`: kernels that GDB stops, by its remote protocol and by GDB itself."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

BATON = os.environ["BATON"]
CLIENTS = pathlib.Path(os.environ["BATON_CLIENTS"])
GDB = shutil.which("gdb")
NVCC = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
# The line of kTwice in client.h that loads a word.
LOAD = 20


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Client:
    """The remote protocol, as far as the tests need it."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)

    def send(self, text):
        self.socket.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) % 256))
        if self.socket.recv(1) != b"+":
            raise AssertionError("no acknowledgement")

    def receive(self):
        data = b""
        while not re.search(rb"#..$", data):
            more = self.socket.recv(1)
            if not more:
                return None
            data += more
        self.socket.sendall(b"+")
        text, digits = data[data.index(b"$") + 1:-3], data[-2:]
        if sum(text) % 256 != int(digits, 16):
            raise AssertionError(data)
        return text.decode()

    def ask(self, text):
        self.send(text)
        return self.receive()

    def monitor(self, command):
        return bytes.fromhex(self.ask("qRcmd," + command.encode().hex())).decode()

    def go_on(self, how="vCont;c"):
        """The stop reply, with the message before it."""
        self.send(how)
        message = self.receive()
        if message is None:
            return None, None
        assert message.startswith("O"), message
        return self.receive(), bytes.fromhex(message[1:]).decode()

    def line(self):
        return int.from_bytes(bytes.fromhex(self.ask("p10")), "little")

    def close(self):
        self.socket.close()


class Gdb(unittest.TestCase):
    def start(self, *words):
        self.port = free_port()
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
        self.process = subprocess.Popen([BATON, "exec", "--gdb", str(self.port), "--", *words], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=kept)
        self.addCleanup(self.end)
        for line in self.process.stderr:
            if f"waits for GDB: target remote :{self.port}" in line:
                self.waiting = line
                return

    def end(self):
        self.process.kill()
        self.process.communicate()

    def connect(self):
        client = Client(self.port)
        self.addCleanup(client.close)
        self.assertIn("qXfer:features:read+", client.ask("qSupported:multiprocess+"))
        self.assertIn("i386:x86-64", client.ask("qXfer:features:read:target.xml:0,fff"))
        self.assertRegex(client.ask("?"), "^T05thread:")
        return client

    def test_threads_registers_and_memory(self):
        self.start(CLIENTS / "faulty", "3")
        client = self.connect()
        self.assertIn("kernel twice is launched", client.monitor("where"))
        threads = client.ask("qfThreadInfo")
        self.assertEqual(client.ask("qsThreadInfo"), "l")
        first, *others = threads[1:].split(",")
        self.assertGreaterEqual(len(others), 2)
        self.assertEqual(client.ask("Hg" + others[0]), "OK")
        self.assertIn("thread (1, 0, 0)", bytes.fromhex(client.ask("qThreadExtraInfo," + others[0])).decode())
        self.assertRegex(client.monitor(f"break {LOAD}"), "stops at")
        reply, message = client.go_on()
        self.assertRegex(reply, "^T05thread:")
        self.assertIn("came to a line", message)
        self.assertEqual(client.line(), LOAD)
        self.assertEqual(client.ask("Hg2"), "OK")
        registers = client.monitor("registers %r2 rd1 %rd3")
        self.assertRegex(registers, r"%r2 = 0x1 \(1\)")
        base = int(re.search(r"%rd1 = (0x\w+)", registers)[1], 16)
        self.assertEqual(int(re.search(r"%rd3 = (0x\w+)", registers)[1], 16), base + 4)
        self.assertEqual(client.ask(f"m{base:x},8"), "0100000001000000")
        self.assertEqual(client.ask("m10,4"), "E01")
        self.assertEqual(client.monitor("registers nothing"), "no such register here\n")
        self.assertIn("break FILE:LINE", client.monitor("help"))

    @unittest.skipUnless(NVCC, "there is no nvcc")
    def test_kernels_and_calls_have_the_names_of_the_source(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-gdb-")
        self.addCleanup(folder.cleanup)
        source, program = pathlib.Path(folder.name) / "named.cu", pathlib.Path(folder.name) / "named"
        source.write_text("namespace own { __device__ __noinline__ int *next(int* p) { return *p = 1, p + 1; }\n"
                          "template <class T> __global__ void fill(T* p) { *next(p) = 2; } }\n"
                          "int main() { int* p; cudaMalloc(&p, 8); own::fill<int><<<1, 1>>>(p); cudaDeviceSynchronize(); }\n")
        subprocess.run([NVCC, "-arch=sm_90", "-lineinfo", source, "-o", program], check=True)
        self.start(program)
        self.assertIn("kernel own::fill<int> is launched", self.waiting)
        client = self.connect()
        self.assertIn("kernel own::fill<int> is launched", client.monitor("where"))
        client.monitor("break named.cu:1")
        client.go_on()
        where = client.monitor("where")
        self.assertIn("own::next at", where)
        self.assertIn("own::fill<int> at", where)
        self.assertNotIn("_Z", where)

    def test_wrong_packets_are_answered(self):
        self.start(CLIENTS / "faulty", "3")
        client = self.connect()
        for packet, answer in [("", ""), ("m", "E01"), ("mzz,1", "E01"), ("m0", "E01"), ("Hgzz", "OK"), ("Tffff", "E01"),
                               ("T", "E01"), ("p", "x" * 16), ("z9,1,1", ""), ("Z", ""), ("Z0,,1", ""), ("vMustReplyEmpty", ""),
                               ("qThreadExtraInfo,", "E01"), ("M", "E01"), ("M0,1:00", "E01"), ("M10,2:00", "E01"), ("Mzz,1:00", "E01"), ("!", "")]:
            with self.subTest(packet):
                self.assertEqual(client.ask(packet), answer)
        self.assertIn("break takes FILE:LINE", client.monitor("break here"))
        self.assertIn("break FILE:LINE", client.monitor("nonsense"))
        # Neither a long packet nor a wrong sum stops the program.
        client.socket.sendall(b"$?#00")
        self.assertEqual(client.socket.recv(1), b"-")
        client.socket.sendall(b"$" + b"x" * 100000)
        self.assertEqual(self.process.communicate(timeout=60)[0], "result 700\n")

    def test_memory_is_written_before_a_warp_reads_it(self):
        self.start(CLIENTS / "faulty", "3")
        client = self.connect()
        client.monitor(f"break {LOAD}")
        client.go_on()
        self.assertIn(f">  {LOAD:4}", client.monitor("list"))
        self.assertIn("ld.global.u32 %r5, [%rd3]", client.monitor("list"))
        base = int(re.search(r"%rd1 = (0x\w+)", client.monitor("registers %rd1"))[1], 16)
        self.assertEqual(client.ask(f"M{base:x},4:2a000000"), "OK")
        self.assertEqual(client.ask(f"m{base:x},8"), "2a00000001000000")
        client.monitor("delete")
        thread = client.ask("qC")[2:]
        client.go_on(f"vCont;s:{thread};c")
        client.go_on(f"vCont;s:{thread};c")
        self.assertEqual(client.ask("Hg1"), "OK")
        self.assertIn("%r5 = 0x2a (42)", client.monitor("registers %r5"))
        # Only a part of it is there: nothing changes.
        self.assertEqual(client.ask(f"M{base + 396:x},8:0200000002000000"), "E01")
        self.assertEqual(client.ask(f"m{base + 396:x},4"), "01000000")

    def test_a_register_is_written_and_used(self):
        self.start(CLIENTS / "faulty", "3")
        client = self.connect()
        client.monitor(f"break {LOAD}")
        client.go_on()
        self.assertEqual(client.ask("Hg2"), "OK")
        base = int(re.search(r"%rd1 = (0x\w+)", client.monitor("registers %rd1"))[1], 16)
        self.assertEqual(client.ask(f"M{base + 20:x},4:2a000000"), "OK")
        # Thread 1 loads another word than its own: the address in the register is what counts.
        self.assertEqual(client.monitor(f"set %rd3 = {base + 20:#x}"), "done\n")
        self.assertEqual(client.monitor("set r2 -7"), "done\n")
        registers = client.monitor("registers %rd3 %r2")
        self.assertIn(f"%rd3 = {base + 20:#x}", registers)
        self.assertIn("%r2 = 0xfffffff9", registers)
        self.assertEqual(client.monitor("set %r2 1.5"), "done\n")
        self.assertIn("%r2 = 0x3fc00000", client.monitor("registers %r2"))
        for wrong in ("%r2", "%r2 0x100000000", "%r2 -2147483649", "%r2 x", "%r2 1 2", "%nothing 1"):
            self.assertNotEqual(client.monitor(f"set {wrong}"), "done\n", wrong)
        self.assertIn("%r2 = 0x3fc00000", client.monitor("registers %r2"))
        client.monitor("delete")
        thread = client.ask("qC")[2:]
        client.go_on(f"vCont;s:{thread};c")
        client.go_on(f"vCont;s:{thread};c")
        self.assertEqual(client.ask("Hg2"), "OK")
        self.assertIn("%r5 = 0x2a (42)", client.monitor("registers %r5"))
        self.assertEqual(client.ask("Hg3"), "OK")
        self.assertIn("%r5 = 0x1 (1)", client.monitor("registers %r5"))

    def test_a_warp_steps(self):
        self.start(CLIENTS / "faulty", "3")
        client = self.connect()
        thread = client.ask("qC")[2:]
        lines = [client.line()]
        for _ in range(3):
            reply, message = client.go_on(f"vCont;s:{thread};c")
            self.assertIn("stepped", message)
            lines.append(client.line())
        self.assertEqual(lines, list(range(lines[0], lines[0] + 4)))

    def test_a_fault_stops_and_the_program_goes_on(self):
        self.start(CLIENTS / "faulty", "3")
        client = self.connect()
        reply, message = client.go_on()
        self.assertRegex(reply, "^T0bthread:")
        self.assertIn("bytes past the end of", message)
        self.assertIn(f"thread ({int(reply[10:-1], 16) - 1}, 0, 0)", message)
        self.assertIn("ld.global.u32", client.monitor("where"))
        client.go_on()
        out, err = self.process.communicate(timeout=60)
        self.assertEqual(out, "result 700\n")
        self.assertEqual(self.process.returncode, 1)
        self.assertIn("out_of_bounds", err)

    def test_a_program_runs_on_without_gdb(self):
        self.start(CLIENTS / "faulty", "3")
        client = self.connect()
        self.assertEqual(client.ask("D"), "OK")
        self.assertEqual(self.process.communicate(timeout=60)[0], "result 700\n")
        self.start(CLIENTS / "faulty", "3")
        self.connect().close()
        self.assertEqual(self.process.communicate(timeout=60)[0], "result 700\n")

    def test_a_port_that_is_taken_is_told(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            done = subprocess.run([BATON, "exec", "--gdb", str(port), "--", CLIENTS / "faulty", "3"], text=True,
                                  capture_output=True, timeout=60)
        self.assertEqual(done.stdout, "result 700\n")
        self.assertIn(f"GDB cannot connect to port {port}", done.stderr)
        for wrong in ("0", "65536", "here"):
            done = subprocess.run([BATON, "exec", "--gdb", wrong, "--", "true"], text=True, capture_output=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("a port from 1 to 65535", done.stderr)

    @unittest.skipUnless(GDB, "there is no gdb")
    def test_gdb_itself(self):
        self.start(CLIENTS / "faulty", "3")
        commands = [f"target remote :{self.port}", "info threads", f"break *{LOAD}", "continue", "print/d $pc",
                    "stepi", "print/d $pc", "monitor registers %r5", "continue", "monitor where"]
        done = subprocess.run([GDB, "-q", "-nx", "-batch", *(w for c in commands for w in ("-ex", c))],
                              capture_output=True, text=True, timeout=120)
        self.assertIn("block (0, 0, 0), thread (2, 0, 0)", done.stdout, done.stderr)
        self.assertRegex(done.stdout, rf"(?s)\$1 = {LOAD}\n.*\$2 = {LOAD + 1}\n")
        self.assertRegex(done.stderr, r"%r5 = 0x\w+")


if __name__ == "__main__":
    unittest.main()
