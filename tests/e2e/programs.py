#!/usr/bin/env python3
"""What brisk's programs do at a shell: exit codes, streams, JSON, pipes, terminal, signals.

usage: programs.py BIN_DIR --golden DIR [--models DIR]

Exit code 77: the golden models are not here.
"""
import argparse
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

ARGS = None
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
PATIENCE_S = 120


def llama():
    return str(ARGS.golden / "arch/llama/model.gguf")


def environment(**extra):
    env = {k: v for k, v in os.environ.items() if not k.startswith("LLAMA_")}
    env.pop("NO_COLOR", None)
    if ARGS.models:
        env["BRISK_MODELS"] = str(ARGS.models)
    env.update({"TERM": "xterm", **extra})
    return env


def brisk(*args, stdin=b"", env=None):
    return subprocess.run([str(ARGS.bin_dir / "brisk"), *args], input=stdin, capture_output=True, timeout=PATIENCE_S,
                          env=env or environment())


class Shell(unittest.TestCase):
    def test_greedy_answer_is_all_of_stdout(self):
        result = brisk("run", "-m", llama(), "-no-cnv", "-p", "Hello", "-n", "3", "--temp", "0")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, b"7ak\xea\n")
        self.assertRegex(result.stderr, rb"prompt 4 tokens, [\d.]+ t/s \| answer 3 tokens, [\d.]+ t/s")

    def test_prompt_from_a_pipe_is_answered_once(self):
        result = brisk("run", "-m", llama(), "-no-cnv", "-n", "3", "--temp", "0", stdin=b"Hello")
        self.assertEqual((result.returncode, result.stdout), (0, b"7ak\xea\n"))

    def test_log_disable_keeps_the_answer(self):
        result = brisk("run", "-m", llama(), "-no-cnv", "-p", "Hello", "-n", "2", "--temp", "0", "--log-disable")
        self.assertEqual((result.stdout, result.stderr), (b"7ak\n", b""))

    def test_missing_file(self):
        result = brisk("run", "-m", "nope.gguf", "-p", "x")
        self.assertEqual((result.returncode, result.stdout), (3, b""))
        self.assertIn(b"nope.gguf", result.stderr)

    def test_bad_flag(self):
        result = brisk("run", "--tmep", "1")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertEqual(result.stderr, b"error: invalid argument: --tmep\ndid you mean --temp?\n")

    def test_flag_of_a_later_version(self):
        result = brisk("run", "-m", llama(), "-p", "x", "--grammar", "root ::= \"a\"")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"--grammar is not supported yet", result.stderr)

    def test_prompt_longer_than_the_context(self):
        result = brisk("run", "-m", llama(), "-no-cnv", "-c", "16", "-p", "word " * 40)
        self.assertEqual((result.returncode, result.stdout), (4, b""))
        self.assertRegex(result.stderr, rb"the prompt has \d+ tokens, the context has room for 16; raise --ctx-size")

    def test_empty_prompt(self):
        result = brisk("run", "-m", str(ARGS.golden / "arch/qwen2/model.gguf"), "-no-cnv", stdin=b"")
        self.assertEqual((result.returncode, result.stdout), (255, b""))
        self.assertIn(b"the prompt is empty", result.stderr)

    def test_no_chat_format(self):
        result = brisk("run", "-m", llama(), "-cnv", "-p", "x")
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"no chat format: the model has no chat template; name one with --chat-template", result.stderr)

    def test_unknown_command_and_program_of_a_later_version(self):
        self.assertEqual(brisk("dance").returncode, 2)
        later = brisk("serve")
        self.assertEqual(later.returncode, 2)
        self.assertIn(b"not part of this version of brisk yet", later.stderr)

    def test_no_model_at_all(self):
        with tempfile.TemporaryDirectory() as empty:
            result = brisk("run", "hi", env=environment(BRISK_MODELS=empty))
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"scripts/quickstart", result.stderr)

    def test_help_version_devices(self):
        for args in (["help"], ["--help"], [], ["run", "--help"], ["version"], ["--version"], ["devices"], ["help", "run"]):
            result = brisk(*args)
            self.assertEqual((result.returncode, result.stderr), (0, b""), args)
            self.assertTrue(result.stdout, args)

    def test_instruction_set_is_forced_and_refused_by_name(self):
        args = ("run", "-m", llama(), "-no-cnv", "-p", "Hello", "-n", "3", "--temp", "0")
        self.assertEqual(brisk(*args, env=environment(BRISK_CPU="scalar")).stdout, b"7ak\xea\n")
        self.assertIn(b"BRISK_CPU=mmx", brisk(*args, env=environment(BRISK_CPU="mmx")).stderr)


class Bench(unittest.TestCase):
    SMALL = ("-p", "8", "-n", "2", "-r", "2", "-t", "1")

    def test_results_go_to_stdout_and_progress_to_stderr(self):
        result = brisk("bench", "-m", llama(), *self.SMALL, "-d", "4", "-o", "json", "--progress")
        self.assertEqual(result.returncode, 0)
        prompt, generation = json.loads(result.stdout)
        self.assertEqual((prompt["n_prompt"], prompt["n_gen"], prompt["n_depth"], prompt["n_threads"]), (8, 0, 4, 1))
        self.assertEqual((generation["n_prompt"], generation["n_gen"]), (0, 2))
        for row in (prompt, generation):
            tokens = row["n_prompt"] + row["n_gen"]
            self.assertEqual(len(row["samples_ns"]), 2)
            self.assertAlmostEqual(row["avg_ns"], sum(row["samples_ns"]) / 2, delta=1)
            for ns, ts in zip(row["samples_ns"], row["samples_ts"]):
                self.assertAlmostEqual(ts, 1e9 * tokens / ns, delta=1e-4 * ts)
        self.assertIn(b"benchmark 1/2: depth run 2/2 (cached)", result.stderr)

    def test_both_streams_have_formats_of_their_own(self):
        result = brisk("bench", "-m", llama(), *self.SMALL, "-o", "csv", "-oe", "jsonl")
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.assertEqual([json.loads(line)["n_gen"] for line in result.stderr.splitlines()], [0, 2])

    def test_failures_end_the_run_and_leave_what_was_printed(self):
        result = brisk("bench", "-m", llama() + ",nope.gguf", *self.SMALL)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(len(result.stdout.splitlines()), 4)
        self.assertIn(b"nope.gguf", result.stderr)
        self.assertEqual(brisk("bench", "-p", "x").returncode, 2)


class Broken(unittest.TestCase):
    """What is wrong around the program: files that are none, streams that are closed or full, absurd values."""

    def refused(self, code, *messages, args, **kwargs):
        result = brisk(*args, **kwargs)
        self.assertEqual((result.returncode, result.stdout), (code, b""), (args, result.stderr))
        for message in messages:
            self.assertIn(message, result.stderr)

    def answer(self, *more, redirect="", program="brisk run", stdin=subprocess.DEVNULL):
        command = f'exec "{ARGS.bin_dir}"/{program} "$@" {redirect}'
        args = ["-m", llama(), "-no-cnv", "-p", "Hello", "--temp", "0", *more]
        return subprocess.run(["bash", "-c", command, "bash", *args], stdin=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE_S, env=environment())

    def test_models_that_are_no_files(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe, empty = os.path.join(folder, "pipe"), os.path.join(folder, "empty")
            os.mkfifo(pipe)
            Path(empty).touch()
            for model, message in ((pipe, b"not a regular file"), ("/dev/zero", b"not a regular file"),
                                   (folder, b"is a folder")):
                self.refused(3, message, args=("run", "-m", model, "-p", "x"))
                self.refused(3, message, args=("inspect", model))
            self.refused(3, b"is empty; download it again", args=("run", "-m", empty, "-p", "x"))
        self.refused(2, b"the name of the model is empty", args=("run", "-m", "", "-p", "x"))

    def test_two_prompts(self):
        self.refused(2, b"--tokens and a prompt exclude each other",
                     args=("run", "-m", llama(), "-p", "x", "--tokens", "1 2"))

    def test_full_disk_is_told_by_every_command(self):
        full = b"error: cannot write to standard output: No space left on device\n"
        for command in ("run -m M -no-cnv -p Hello -n 3", "run -m M --json -p Hello -n 3", "run --help", "version", "help",
                        "devices", "inspect M", "tokenize -m M -p Hello", "run --completion-bash"):
            words = [llama() if word == "M" else word for word in command.split()]
            with open("/dev/full", "wb") as out:
                result = subprocess.run([str(ARGS.bin_dir / "brisk"), *words], stdout=out, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, timeout=PATIENCE_S, env=environment())
            self.assertEqual(result.returncode, 3, command)
            self.assertTrue(result.stderr.endswith(full), result.stderr)
        result = self.answer("-n", "3", redirect=">/dev/full", program="llama-completion")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.endswith(full), result.stderr)

    def test_answer_stops_when_its_reader_goes_away(self):
        result = self.answer("-n", "-1", "--ignore-eos", "--context-shift", redirect="> >(head -c 1)")
        self.assertEqual((result.returncode, len(result.stdout)), (141, 1))

    def test_closed_streams(self):
        closed = self.answer("-n", "3", redirect=">&-")
        self.assertEqual(closed.returncode, 3)
        self.assertIn(b"cannot write to standard output", closed.stderr)
        with tempfile.NamedTemporaryFile() as log:
            self.assertEqual(self.answer("-n", "3", "--log-file", log.name, redirect=">&-").returncode, 3)
            self.assertNotIn(b"7ak", Path(log.name).read_bytes())
        self.assertEqual(self.answer("-n", "3", redirect="<&- 2>&-").stdout, b"7ak\xea\n")
        folder = self.answer("-n", "3", "-f", "/dev/stdin", redirect="< /tmp")
        self.assertEqual((folder.returncode, folder.stdout), (2, b""))

    def test_log_that_cannot_be_written_is_told_and_the_answer_goes_on(self):
        result = self.answer("-n", "3", "--log-file", "/dev/full")
        self.assertEqual((result.returncode, result.stdout), (0, b"7ak\xea\n"))
        self.assertEqual(result.stderr.count(b"cannot write to the log file '/dev/full': No space left on device"), 1)

    def test_prompt_from_a_named_pipe(self):
        result = self.answer("-n", "3", redirect="-f <(printf Hello)")
        self.assertEqual((result.returncode, result.stdout), (0, b"7ak\xea\n"))

    def test_values_out_of_range(self):
        run = ("run", "-m", llama(), "-p", "x")
        self.refused(2, b"must be a finite number, not nan", args=(*run, "--temp", "nan"))
        self.refused(2, b"between", b"not 9999999999", args=(*run, "-c", "9999999999"))
        self.refused(2, b"override of 'a': 'xyz' is not a value of type int", args=(*run, "--override-kv", "a=int:xyz"))
        self.refused(2, b"BRISK_CPU=mmx", args=run, env=environment(BRISK_CPU="mmx"))
        self.refused(1, b"1000000 threads are more than", args=(*run, "-t", "1000000"))

    def test_nearest_command(self):
        self.refused(2, b"unknown command 'rnu'\ndid you mean run?\n", args=("rnu",))
        self.refused(2, b"did you mean inspect?\n", args=("help", "inspekt"))
        self.refused(2, b"'brisk help' lists the commands", args=("help", "nonsense"))


class Json(unittest.TestCase):
    def run_json(self, *args):
        result = brisk("run", "-m", llama(), "--json", "--temp", "0", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count(b"\n"), 1)
        return json.loads(result.stdout)

    def test_fields(self):
        out = self.run_json("-no-cnv", "-p", "Hello", "-n", "4", "--n-probs", "3")
        self.assertEqual(list(out), ["prompt_tokens", "tokens", "text", "finish_reason", "timings", "probs"])
        self.assertEqual(list(out["timings"]), ["prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "load_ms"])
        self.assertEqual((out["finish_reason"], len(out["tokens"]), len(out["probs"])), ("length", 4, 4))
        for token, best in zip(out["tokens"], out["probs"]):
            self.assertEqual(len(best), 3)
            self.assertEqual(token, best[0][0])  # greedy
            self.assertEqual(best, sorted(best, key=lambda pair: -pair[1]))

    def test_token_ids_as_prompt(self):
        by_text = self.run_json("-no-cnv", "-p", "Hello", "-n", "4")
        ids = " ".join(map(str, by_text["prompt_tokens"]))
        self.assertEqual(self.run_json("--tokens", ids, "-n", "4")["tokens"], by_text["tokens"])
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(ids)
            file.flush()
            self.assertEqual(self.run_json("--tokens", "@" + file.name, "-n", "4")["tokens"], by_text["tokens"])

    def test_seeded_sampling_repeats(self):
        args = ("-no-cnv", "-p", "Hello", "-n", "12", "--temp", "1.5", "--seed", "7")
        first, second = (json.loads(brisk("run", "-m", llama(), "--json", *args).stdout)["tokens"] for _ in range(2))
        self.assertEqual(first, second)

    def test_context_shift_goes_on(self):
        out = self.run_json("-no-cnv", "-p", "Hello", "-c", "32", "-n", "60", "--ignore-eos", "--context-shift", "--keep", "4")
        self.assertEqual((len(out["tokens"]), out["finish_reason"]), (60, "length"))
        full = self.run_json("-no-cnv", "-p", "Hello", "-c", "32", "-n", "60", "--ignore-eos")
        self.assertEqual(full["finish_reason"], "context_full")
        self.assertEqual(full["tokens"], out["tokens"][:len(full["tokens"])])


class Logits(unittest.TestCase):
    def logits(self, *args):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "out.f32"
            result = brisk("logits", "-m", llama(), "-o", str(path), "-ctk", "f32", "-ctv", "f32", *args)
            self.assertEqual(result.returncode, 0, result.stderr)
            data = path.read_bytes()
        return struct.unpack(f"<{len(data) // 4}f", data)

    def test_golden_values_of_all_positions(self):
        folder = ARGS.golden / "arch/llama"
        tokens = json.loads((folder / "tokens.json").read_text())["sequences"]
        meta = json.loads((folder / "meta.json").read_text())
        want = (folder / "logits.f32").read_bytes()
        want = struct.unpack(f"<{len(want) // 4}f", want)
        first = len(tokens[0]) * 512
        n = len(tokens[1]) * 512
        got = self.logits("--tokens", " ".join(map(str, tokens[1])))
        self.assertEqual(len(got), n)
        worst = max(abs(a - b) for a, b in zip(got, want[first:first + n]))
        self.assertLessEqual(worst, meta.get("tolerance", 2e-4))

    def test_pieces_do_not_change_a_bit(self):
        tokens = " ".join(str(i) for i in range(5, 29))
        whole = self.logits("--tokens", tokens)
        self.assertEqual(whole, self.logits("--tokens", tokens, "--split", "3,1,5"))
        self.assertEqual(whole, self.logits("--tokens", tokens, "-b", "7", "-ub", "2", "-t", "1"))


class Terminal:
    """A program on a pseudo terminal; stdout and stderr are the terminal."""

    def __init__(self, *args):
        try:
            pid, self.fd = pty.fork()
        except OSError as error:  # a container without /dev/pts
            raise unittest.SkipTest(f"no pseudo terminal here: {error}") from error
        if pid == 0:
            os.execve(str(ARGS.bin_dir / "brisk"), ["brisk", *args], environment())
        self.pid = pid
        self.output = b""

    def wait_for(self, pattern):
        deadline = time.monotonic() + PATIENCE_S
        start = len(self.output)
        while not re.search(pattern, self.output[start:]):
            if time.monotonic() > deadline or not self.read():
                raise AssertionError(f"{pattern!r} did not come; output: {self.output!r}")

    def wait_for_editor(self, pattern):
        """Until the line editor has the terminal: before, the terminal edits lines itself and would keep Ctrl-D."""
        self.wait_for(pattern)
        deadline = time.monotonic() + PATIENCE_S
        while termios.tcgetattr(self.fd)[3] & termios.ICANON and time.monotonic() < deadline:
            time.sleep(0.01)

    def read(self):
        ready, _, _ = select.select([self.fd], [], [], 1.0)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.output += data
        return bool(data)

    def send(self, keys):
        os.write(self.fd, keys)

    def exit_code(self):
        deadline = time.monotonic() + PATIENCE_S
        while self.read():
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"the program does not end; output: {self.output!r}")
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


class Interactive(unittest.TestCase):
    def chat(self, *args):
        return Terminal("run", "-m", llama(), "--chat-template", "chatml", "--temp", "0", "--ignore-eos", *args)

    def test_conversation_with_help_and_end_of_input(self):
        terminal = self.chat("-n", "4")
        terminal.wait_for_editor(rb"> ")
        terminal.send(b"/help\r")
        terminal.wait_for_editor(rb"/regen +answer[\s\S]*> ")
        terminal.send(b"Hi\r")
        terminal.wait_for_editor(rb"answer 4 tokens[\s\S]*> ")
        terminal.send(b"\x04")
        self.assertEqual(terminal.exit_code(), 0)

    def test_interrupt_stops_the_answer_and_a_second_one_leaves(self):
        terminal = self.chat("-n", "-1", "--context-shift")
        terminal.wait_for_editor(rb"> ")
        terminal.send(b"Hi\r")
        terminal.wait_for(rb"\r\n[^\r\n]{8,}")
        terminal.send(b"\x03")
        terminal.wait_for_editor(rb"answer \d+ tokens[\s\S]*> ")
        terminal.send(b"\x03")
        self.assertEqual(terminal.exit_code(), 130)

    def test_history_brings_a_line_back(self):
        terminal = self.chat("-n", "3")
        terminal.wait_for_editor(rb"> ")
        terminal.send(b"first message\r")
        terminal.wait_for_editor(rb"answer 3 tokens[\s\S]*> ")
        terminal.send(b"\x1b[A\r")
        terminal.wait_for_editor(rb"first message[\s\S]*answer 3 tokens[\s\S]*> ")
        terminal.send(b"/exit\r")
        self.assertEqual(terminal.exit_code(), 0)

    def test_interrupt_without_a_conversation_is_130(self):
        process = subprocess.Popen([str(ARGS.bin_dir / "brisk"), "run", "-m", llama(), "-no-cnv", "-p", "Hello", "-n", "-1",
                                    "--ignore-eos", "--context-shift"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
        process.stdout.read(20)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 130)


class RealModel(unittest.TestCase):
    def setUp(self):
        if not ARGS.models or not (ARGS.models / MODEL).exists():
            self.skipTest(f"needs {MODEL}, which is not here (scripts/test --models fetches it)")

    def test_question_with_the_default_model(self):
        result = brisk("run", "Say only the word yes.", "--temp", "0", "-n", "16")
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"yes", result.stdout.lower())
        self.assertIn(b"chat in format smollm2", result.stderr)

    def test_chat_prompt_tokens_are_the_recorded_ones(self):
        recorded = json.loads((ARGS.golden / "real/smollm2.json").read_text())["prompts"]
        for item in recorded[:3]:
            out = json.loads(brisk("run", "--json", "-n", "1", "--temp", "0", "-p", item["text"], "--no-escape").stdout)
            self.assertEqual(out["prompt_tokens"], item["chat"]["prompt_tokens"], item["id"])


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir", type=Path)
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("tests", nargs="*")
    ARGS = parser.parse_args()
    ARGS.bin_dir = ARGS.bin_dir.resolve()
    if not ARGS.golden or not (ARGS.golden / "arch").is_dir():
        print("skipped: needs golden/arch, which is not here")
        return 77
    program = unittest.main(argv=[sys.argv[0], *ARGS.tests], exit=False, verbosity=1)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
