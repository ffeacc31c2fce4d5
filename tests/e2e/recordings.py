#!/usr/bin/env python3
"""Runs brisk under llama.cpp's program names and compares with recordings of the originals (golden/cli).

usage: recordings.py BIN_DIR [--golden DIR] [--models DIR] [--only ID...]

Compared are the exit code and standard output, with the placeholders of golden/cli/README.md; of standard error the
lines in EXPECTED_ERRORS. Every record is either run or listed in LEFT_OUT with its reason, so that a new record cannot
be forgotten. Exit code 77: the recordings are not here.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ARCH_MODELS = ["llama", "bert", "gemma3", "mixtral", "qwen2", "t5", "nomic-bert", "gpt2"]
PROGRAMS = ["completion", "cli", "tokenize", "perplexity", "bench"]
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"

GRAMMAR = "grammars come later"
SESSION = "prompt caches in files come later"
ADAPTER = "LoRA adapters and control vectors come later"
ENCODER = "encoder models come later"
SAMPLER = "this sampler comes later"
SCORES = "this score comes later"

LEFT_OUT = {
    "completion-jsonl": "JSON lines in the log come later",
    "completion-bad-grammar": GRAMMAR,
    "completion-json-schema": GRAMMAR,
    "completion-lora-missing": ADAPTER,
    "completion-lora": ADAPTER,
    "completion-lora-scaled": ADAPTER,
    "completion-control-vector": ADAPTER,
    "completion-control-vector-missing": ADAPTER,
    "prompt-cache-new": SESSION,
    "prompt-cache-exact": SESSION,
    "prompt-cache-other": SESSION,
    "prompt-cache-all": SESSION,
    "prompt-cache-all-interactive": SESSION,
    "prompt-cache-empty": SESSION,
    "prompt-cache-other-model": SESSION,
    "completion-t5": ENCODER,
    "completion-bert": ENCODER,
    "completion-mirostat1": SAMPLER,
    "completion-mirostat2": SAMPLER,
    "completion-self-extend": "group attention comes later",
    "completion-self-extend-bad": "group attention comes later",
    "completion-check-tensors": "--check-tensors comes later",
    "bench-md-pg-depth": "quantised caches come later",
    "completion-kv-q8-fa-off": "quantised caches come later",
    "completion-terminal-ctrl-c": "brisk edits lines with libedit, whose control sequences differ; tests/e2e/terminal.py",
    "split-load": "the parts are written by gguf-split, which comes later; the reader's tests load split files",
    "cli-bad-server": "the HTTP client comes later",
    "cli-terminal": "brisk edits lines with libedit, whose control sequences differ; tests/e2e/terminal.py",
    "cli-terminal-ctrl-d": "brisk edits lines with libedit, whose control sequences differ; tests/e2e/terminal.py",
    "cli-terminal-no-color": "needs a terminal; tests/e2e/terminal.py",
    "tokenize-bert": ENCODER,
    "perplexity-type1": SCORES,
    "perplexity-stride": SCORES,
    "perplexity-save-logits": SCORES,
    "perplexity-kl": SCORES,
    "perplexity-kl-nobase": SCORES,
    "hellaswag": SCORES,
    "hellaswag-default": SCORES,
    "winogrande": SCORES,
    "winogrande-f": SCORES,
    "multiple-choice": SCORES,
    "multiple-choice-few-seqs": SCORES,
}

# Parts of standard error that scripts look for, by record.
EXPECTED_ERRORS = {
    "completion-no-model": ["error: --model is required"],
    "completion-no-args": ["error: --model is required"],
    "completion-bad-flag": ["error: invalid argument: --nope"],
    "completion-eqvalue": ["error: invalid argument: --n-predict=4"],
    "completion-missing-value": ['error while handling argument "-n": expected value for argument\n\nusage:\n-n,    --predict'],
    "completion-bad-fa": ["error: unknown value for --flash-attn: 'maybe'"],
    "completion-file-missing": ["error: failed to open file 'nofile.txt'"],
    "completion-too-long": ["prompt is too long (25218 tokens, max 252)"],
    "completion-repeat-option": ["W DEPRECATED: argument '-n' specified multiple times"],
    "completion-env": ["warn: LLAMA_ARG_N_PREDICT environment variable is set, but will be overwritten",
                       "warn: LLAMA_ARG_THREADS environment variable is set, but will be overwritten"],
    "completion-version": ["version: ", "built with "],
    "completion-context-full": ["context full and context shift is disabled => stopping", "/     4 tokens", "/   251 runs"],
    "completion-chat-st-n-trap": ["context full and context shift is disabled => stopping"],
    "completion-basic": ["prompt eval time =", "eval time ="],
    "completion-bad-template": ["error: the supplied chat template is not supported: nosuch"],
    "completion-bad-override-kv": ["error: Invalid type for KV override: nonsense"],
    "completion-binary-file": ["Read 13 bytes from binary file t2.txt"],
    "completion-rope-scale": ["W llama_completion: warning: scaling RoPE frequency by 0.25."],
    "completion-bad-rope": ['error while handling argument "--rope-scaling": invalid value'],
    "completion-bad-device": ["invalid device: nosuch"],
    "completion-ngl": ["warning: no usable GPU found, --gpu-layers option will be ignored"],
    "completion-ctx-4": ["W llama_completion: warning: minimum context size is 8, using minimum size."],
    "cli-no-model": ["error: --model is required"],
    "cli-missing-model": ["nope.gguf"],
    "tokenize-none": ["must specify one of: --stdin, --file or --prompt"],
    "tokenize-badflag": ["error: invalid argument: --nope"],
    "perplexity-no-input": ["you need at least 1024 tokens to evaluate perplexity with a context of 512",
                            "tokenizes to only 1 tokens"],
    "bench-missing-model": ["llama_bench: error: failed to load model 'nope.gguf'\n"],
    "bench-bad-value": ["error: invalid range format\nerror: invalid parameter for argument: -p\n"],
    "bench-bad-output": ["error: invalid parameter for argument: -o\n"],
    "bench-version": ["version: ", "built with "],
    "bench-mmp-old": ["error: invalid parameter for argument: -mmp\n"],
    "perplexity-tiny": ["Final estimate: PPL = "],
}

# Where the two best logits are nearly equal, rounding decides which one a greedy run takes (golden/real/README.md). What
# follows such a step is not compared: the recorded text (a regular expression) and what stands for it.
NEAR_TIES = {
    # 0.008 between the two best at the 120th token; the recorded run adds up attention in half precision.
    "completion-context-full": (r"(?<=\\x84\.ch)[\s\S]*", "<...>"),
    # 0.027 between " help" and " share".
    "completion-chat-system": (r"(?<=here to )[\s\S]*(?=\n\n)", "<...>"),
    "completion-chat-st-n-trap": (r"(?<=here to )[\s\S]*(?=\n\n)", "<...>"),
    # 0.103 between " colors" and " endless".
    "completion-interactive": (r"(?<=a canvas of )[\s\S]*(?=EOF by user)", "<...>"),
    # 0.034 between " Dr" and " Michael".
    "cli-system": (r"(?<=Dear )[\s\S]*(?=\n\n\[ Prompt)", "<...>"),
    # 0.032 between a quotation mark and "I" at the first token; the second message follows that answer.
    "cli-multiline": (r"I'm sorry for any mis", "<...>"),
}

NUMBER = r"(?:-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|-?inf|-?nan)"
NAMED = {"spinner": r"[\s\x08|/\\-]*", "logo": r"[\s\S]*?", "random text": r"[^\n]*"}
TEXT = ["date", "cpu", "cpu features", "build", "commit", "version", "compiler", "target", "pointer", "url", "seed", "text"]


def placeholder(name):
    if name in NAMED:
        return NAMED[name]
    if name in TEXT:
        return r"[^\n]*"
    if name == "ts":
        return r"\d+\.\d\d\.\d\d\d\.\d\d\d"
    if name == "eta":
        return r"(?:\d+ hours )?" + NUMBER
    if re.fullmatch(r"i|f|g|f\.\d+|f\d+\.\d+", name):
        return NUMBER
    if name == "w21:f.2 ± f.2":  # the leading blank included; all recorded rates are narrower than the column
        return r" +\d+\.\d\d ± \d+\.\d\d"
    return None


def pattern_of(text):
    """A regular expression over bytes for a recorded text."""
    out, rest = b"", text
    while rest:
        if listed := re.match(r"\[ <([ig])>, \.\.\. \]", rest):
            out += rf"\[ {NUMBER}(?:, {NUMBER})* \]".encode()
            rest = rest[listed.end():]
            continue
        if rest.startswith("<...>"):
            out += rb"[\s\S]*?"
            rest = rest[5:]
            continue
        match = re.match(r"( *)<([^<>\n]*)>", rest)
        inner = placeholder(match.group(2)) if match else None
        if inner is not None:
            numeric = inner == NUMBER
            blanks = b" *" if numeric and match.group(1) else re.escape(match.group(1).encode())
            out += blanks + inner.encode()
            rest = rest[match.end():]
        elif rest.startswith("\\x") and re.match(r"\\x[0-9a-f]{2}", rest):
            out += re.escape(bytes([int(rest[2:4], 16)]))
            rest = rest[4:]
        else:
            out += re.escape(rest[0].encode())
            rest = rest[1:]
    return out


def numbers_of(data):
    return [float(x) for x in re.findall(rb"\[\d+\](\d+\.\d+)", data)]


def perplexity_close(record, stdout):
    """The values within the tolerance that the record names."""
    tolerance = 0.03 if "smollm2" in record["id"] else 0.002
    got, want = numbers_of(stdout), numbers_of(record["stdout"].encode())
    return len(got) == len(want) and all(abs(g - w) <= tolerance * w for g, w in zip(got, want))


class Folder:
    """A working folder with the models under the names that the recordings use."""

    def __init__(self, path, golden, models):
        self.path = Path(path)
        for name in ARCH_MODELS:
            self.link(f"{name}.gguf", golden / "arch" / name / "model.gguf")
        self.link("q4_k_m.gguf", golden / "types" / "q4_k_m.gguf")
        self.link("perplexity.txt", golden / "real" / "perplexity.txt")
        self.has_smollm2 = models is not None and (models / SMOLLM2).exists()
        if self.has_smollm2:
            self.link("smollm2.gguf", models / SMOLLM2)
        self.link("small.txt", golden / "cli" / "data" / "small.txt")
        (self.path / "trunc.gguf").write_bytes((golden / "arch/llama/model.gguf").read_bytes()[:1000000])

    def link(self, name, target):
        if target.exists():
            (self.path / name).symlink_to(target)

    def write(self, files):
        for name, content in (files or {}).items():
            if isinstance(content, str):
                (self.path / name).write_bytes(content.encode())


def run(record, bin_dir, folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LLAMA_", "BRISK_"))}
    env.update(record.get("env") or {})
    env.update({name: os.environ[name] for name in ("BRISK_CPU",) if name in os.environ})
    return subprocess.run([str(bin_dir / record["program"]), *record["args"]], cwd=folder.path, env=env,
                          input=(record.get("stdin") or "").encode(), capture_output=True, timeout=300)


def compare(record, result):
    """The differences, as lines."""
    want = record["stdout"].replace("\\<...>", "<...>")  # cut inside an escape
    if want.startswith("usage: "):
        want = re.sub(r"\.\.\.\n$", "<...>", want)
    if record["id"] in NEAR_TIES:
        want = re.sub(*NEAR_TIES[record["id"]], want)
    problems = []
    if result.returncode != record["exit"]:
        problems.append(f"exit code {result.returncode}, recorded {record['exit']}")
    if record["program"] == "llama-perplexity":
        shape = re.sub(r"\[(\d+)\]\d+\.\d+", r"[\1]<f.4>", record["stdout"])
        same = re.fullmatch(pattern_of(shape), result.stdout) and perplexity_close(record, result.stdout)
    else:
        same = re.fullmatch(pattern_of(want), result.stdout)
    if not same:
        problems.append(f"standard output\n    got      {result.stdout!r}\n    recorded {record['stdout']!r}")
    for text in EXPECTED_ERRORS.get(record["id"], []):
        if text.encode() not in result.stderr:
            problems.append(f"standard error lacks {text!r}:\n    {result.stderr!r}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir", type=Path)
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    if not args.golden or not (args.golden / "cli").is_dir():
        print("skipped: needs golden/cli, which is not here")
        return 77
    records = [r for p in PROGRAMS for r in json.loads((args.golden / "cli" / f"{p}.json").read_text())["records"]]
    unknown = set(LEFT_OUT) - {r["id"] for r in records}
    failures, n_run, n_skipped = len(unknown), 0, 0
    if unknown:
        print(f"FAIL LEFT_OUT names records that do not exist: {sorted(unknown)}")
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path, args.golden, args.models)
        for record in records:
            folder.write(record.get("files"))
        for record in records:
            if record["id"] in LEFT_OUT or (args.only and record["id"] not in args.only):
                continue
            if "smollm2.gguf" in record["args"] and not folder.has_smollm2:
                n_skipped += 1
                continue
            n_run += 1
            problems = compare(record, run(record, args.bin_dir.resolve(), folder))
            failures += bool(problems)
            for problem in problems:
                print(f"FAIL {record['id']}: {problem}")
    print(f"{n_run} recordings run, {failures} differ, {len(LEFT_OUT)} left out, {n_skipped} without their model")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
