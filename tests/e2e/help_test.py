#!/usr/bin/env python3
"""The help, the man pages and the completion of shells, which come from one table of commands."""

import re
import shutil
import subprocess

from baton import BATON, ROOT, Case, main

PAGE = "".join(page.read_text(encoding="utf-8") for page in [*sorted((ROOT / "docs").glob("cli*.md")), ROOT / "docs/exec.md", ROOT / "docs/record.md"])


def section(text, title):
    """The terms that a section of the help lists."""
    body = re.search(rf"^{title}:\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^  (\S.*?)(?:  .*)?$", body[1], re.MULTILINE) if body else []


class Help(Case):
    def help(self, *arguments):
        result = self.baton("help", *arguments)
        self.check(result, 0)
        return result.out

    def commands(self):
        return section(self.help(), "Commands")

    def options(self, command):
        terms = section(self.help(command), "Options")
        return [name for term in terms for name in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", term)]

    def test_every_command_has_all_that_its_user_needs(self):
        self.assertGreater(len(self.commands()), 10)
        for command in self.commands():
            with self.subTest(command):
                text = self.help(command)
                for title in ("Usage", "Options", "Exit status"):
                    self.assertIn(f"{title}:\n", text)
                self.assertEqual(text, self.baton(command, "--help").out)

    def test_help_as_json(self):
        everything = self.baton("help", "--json")
        self.check(everything, 0)
        found = everything.json()
        self.assertEqual([row["name"] for row in found["commands"]], self.commands())
        self.assertEqual([row["status"] for row in found["exit_statuses"]], [0, 1, 2, 3, 130])
        self.assertIn("BATON_DEVICE", [row["name"] for row in found["environment"]])
        for row in found["commands"]:
            with self.subTest(row["name"]):
                names = [name for option in row["options"] for name in option["names"]]
                self.assertEqual(names, self.options(row["name"]))
                self.assertIn(row["usage"], " ".join(self.help(row["name"]).split()))
                self.assertEqual(self.baton("help", row["name"], "--json").json()["commands"], [row])
        run = next(row for row in found["commands"] if row["name"] == "run")
        pdl = next(option for option in run["options"] if option["names"] == ["--pdl"])
        self.assertEqual((pdl["value"], pdl["repeats"], pdl["completion"]), ("MODE", False, ["auto", "on", "off"]))
        self.assertEqual(self.baton("run", "--help", "--json").json()["commands"], [run])

    def test_versions_as_json(self):
        text = self.baton("version").out
        for call in (["version", "--json"], ["--version", "--json"], ["run", "-V", "--json"]):
            result = self.baton(*call)
            self.check(result, 0)
            versions = result.json()["versions"]
            self.assertEqual(text, f"baton {versions['baton']}\n")
            self.assertEqual(versions["json"], result.json()["version"])
            self.assertRegex(versions["bundle"], r"^\d+\.\d+$")

    def test_what_has_no_json(self):
        for call in (["completion", "bash"], ["manual"], ["manual", "run"]):
            result = self.baton(*call, "--json")
            self.check(result, 2, f"baton {call[0]} prints", "not JSON")
            self.assertEqual(result.json()["error"]["code"], "invalid_input")
            self.assertNotIn("--json", self.options(call[0]))

    def test_the_pages_have_every_command_option_variable_and_status(self):
        for command in self.commands():
            for name in {f"baton {command}", *self.options(command)} - {"-h"}:
                self.assertTrue(name in PAGE, name)
        general = self.help()
        for name in section(general, "Environment"):
            self.assertTrue(f"`{name}`" in PAGE, name)
        for status in section(general, "Exit status"):
            self.assertTrue(f"\n| {status} |" in PAGE, status)

    def test_a_pager_gets_lines_of_eighty_columns(self):
        for command in ["", *self.commands()]:
            for line in self.help(*command.split()).splitlines():
                # Calls are for copying.
                if not line.startswith("    baton "):
                    self.assertLessEqual(len(line), 80, line)

    def test_the_nearest_name_is_suggested(self):
        for arguments, near in ((["hlep"], "help"), (["help", "rum"], "run"), (["run", "--halp"], "--help"),
                                (["completion", "bsh"], "bash"), (["manual", "chek"], "check")):
            result = self.baton(*arguments)
            self.check(result, 2)
            self.assertTrue(result.first_error.endswith(f'did you mean "{near}"?'), result.first_error)

    def test_a_call_that_names_no_command_is_told_how_to_find_one(self):
        for arguments in ([], ["frobnicate"]):
            self.check(self.baton(*arguments), 2, "baton help lists all")

    def test_a_program_without_its_dashes(self):
        self.check(self.baton("record", "./a.out"), 2,
                   'baton record takes "./a.out" after "--" alone: baton record -- ./a.out')
        self.check(self.baton("exec", "./no such file"), 2, '"./no such file" cannot be started')

    def test_commands_that_run_a_program_tell_whose_status_they_end_with(self):
        for command in ("exec", "record"):
            self.assertIn("N", section(self.help(command), "Exit status"))
            self.assertIn("The program\\(aqs own", self.baton("manual", command).out)
        self.assertNotIn("N", section(self.help("run"), "Exit status"))

    def test_manual_pages_are_sound(self):
        man = shutil.which("man")
        for command in [None, *self.commands()]:
            with self.subTest(command):
                page = self.baton("manual", *([command] if command else []))
                self.check(page, 0)
                self.assertTrue(page.out.isascii())
                if man is None:
                    continue
                shown = subprocess.run([man, "--warnings", "-E", "UTF-8", "-l", "-"], input=page.out, text=True,
                                       capture_output=True, env={"MANWIDTH": "80", "LC_ALL": "C.UTF-8",
                                                                 "PATH": "/usr/bin:/bin"}, check=True)
                if "minimized" in shown.stdout:  # by Ubuntu's images, which have no manual
                    continue
                self.assertEqual(shown.stderr, "")
                for option in self.options(command) if command else ["--json"]:
                    self.assertIn(option, shown.stdout)


# A line as typed, and what the shell offers then.
COMPLETED = [
    ("baton r", ["record", "run"]),
    ("baton run --de", ["--device", "--devices"]),
    ("baton run --device sim:h", ["sim:h100", "sim:h200"]),
    ("baton run --device=cuda:", ["cuda:0"]),
    ("baton run --device=sim:h", ["sim:h100", "sim:h200"]),
    ("baton run --pdl=o", ["off", "on"]),
    ("baton compile --depfile=k", ["k.cu"]),
    ("baton run k", ["k.cu"]),
    ("baton run --keep i", ["images/"]),
    ("baton cache e", ["export"]),
    ("baton cache export i", ["images/"]),
    ("baton help che", ["check"]),
    ("baton explain shared_r", ["shared_race"]),
    ("baton init k", ["k.cu"]),
]

BASH = """\
source "$SCRIPT"
COMP_LINE="$LINE" COMP_POINT=${#LINE}
_baton
for reply in "${COMPREPLY[@]}"; do echo "$reply"; done
"""


class Completion(Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", "")
        (self.folder / "images").mkdir()

    def complete(self, shell, program, line):
        script = self.write(f"script.{shell}", self.baton("completion", shell).out)
        done = subprocess.run([shutil.which(shell), "-c", program], cwd=self.folder, text=True, capture_output=True,
                              env={"LINE": line, "SCRIPT": str(script), "HOME": str(self.folder),
                                   "PATH": f"{BATON.rpartition('/')[0]}:/usr/bin:/bin"}, check=True)
        self.assertEqual(done.stderr, "")
        return sorted(done.stdout.splitlines())

    def test_bash(self):
        if shutil.which("bash") is None:
            self.skipTest("there is no bash")
        for line, offered in COMPLETED:
            with self.subTest(line):
                # Bash replaces what follows the last "=" or ":", and adds the "/" of a folder itself.
                typed = line.split(" ")[-1].rpartition("=")[2].rpartition(":")
                wanted = [word.rstrip("/").removeprefix(typed[0] + typed[1]) for word in offered]
                self.assertEqual(self.complete("bash", BASH, line), wanted)

    def test_fish(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish")
        for line, offered in COMPLETED:
            with self.subTest(line):
                replies = self.complete("fish", 'source "$SCRIPT"; complete -C "$LINE"', line)
                self.assertEqual([reply.split("\t")[0].rpartition("=")[2] for reply in replies], offered)

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("there is no zsh")
        # Its completion needs a terminal; here its script is only read, as a file and by `source`.
        self.complete("zsh", 'autoload -U compinit && compinit -u -d "$HOME/dump" && source "$SCRIPT"', "")
        self.complete("zsh", 'zsh -n "$SCRIPT"', "")


if __name__ == "__main__":
    main()
