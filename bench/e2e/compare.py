#!/usr/bin/env python3
"""brisk and llama.cpp side by side: the same model, tokens and threads, run in turn (A B A B ...).

    bench/e2e/compare.py -m MODEL [-m MODEL...] [-t 1,2] [--runs 5] [--json FILE] [--startup]
                         [--brisk build/release/bin/brisk] [--venv build/peers/venv] [--only brisk|peer]

First checks that the greedy tokens of both agree at least at the beginning; then prints for prompt (512 tokens) and
generation (64 tokens) both medians, the spread (smallest to largest), and the ratio of the medians. `--startup` adds
the time from the start of the process to the first token of a 10-token prompt. `--patience S` waits up to S seconds
for a quiet machine before each run and repeats runs that others disturbed; `--realtime` runs both programs ahead of
everything else instead (root only).
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

import quiet

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PEER = REPOSITORY / "bench/peers/llama_peer.py"
TEXT = REPOSITORY / "docs/architecture.md"
PROMPT, GENERATE, STARTUP_PROMPT = 512, 64, 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", "--model", action="append", required=True)
    parser.add_argument("-t", "--threads", default="1,2", help="thread counts, separated by commas")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", help="write the results to a file, or - for stdout")
    parser.add_argument("--startup", action="store_true")
    parser.add_argument("--brisk", type=pathlib.Path, default=REPOSITORY / "build/release/bin/brisk")
    parser.add_argument("--venv", type=pathlib.Path, default=REPOSITORY / "build/peers/venv")
    parser.add_argument("--only", choices=["brisk", "peer"])
    parser.add_argument("--flash-attention", choices=["auto", "on", "off"], default="auto", help="of the peer")
    parser.add_argument("--text", type=pathlib.Path, default=TEXT, help="what the prompt is made of")
    parser.add_argument("--min-agree", type=int, default=2,
                        help="greedy tokens that must be equal at the beginning; later ones part where two are nearly equally good")
    parser.add_argument("--patience", type=float, default=0)
    parser.add_argument("--realtime", action="store_true")
    return parser.parse_args()


class Setting:
    """One model with one number of threads, and the prompt that both programs get."""

    def __init__(self, args, model, threads, prompt_file):
        self.args, self.model, self.threads, self.prompt_file = args, model, threads, prompt_file

    def ahead(self):
        return ["chrt", "--fifo", "10"] if self.args.realtime else []

    def peer_command(self, *extra):
        return [*self.ahead(), str(self.args.venv / "bin/python"), str(PEER), "-m", self.model, "-t", str(self.threads),
                "--flash-attention", self.args.flash_attention, *extra]

    def brisk_command(self, *extra):
        return [*self.ahead(), str(self.args.brisk), "run", "-m", self.model, "-t", str(self.threads), "--temp", "0", "--ignore-eos",
                "-no-cnv", *extra]

    def run_peer(self):
        result = quiet.run_quietly(self.peer_command("--tokens", "@" + self.prompt_file, "-n", str(GENERATE)),
                                   self.args.patience)
        values = json.loads(result.stdout)
        return {"prompt": values["prompt_tps"], "generation": values["gen_tps"], "tokens": values["tokens"],
                "others": result.others}

    def run_brisk(self):
        command = self.brisk_command("--json", "--tokens", "@" + self.prompt_file, "-n", str(GENERATE))
        result = quiet.run_quietly(command, self.args.patience)
        values = json.loads(result.stdout)
        times = values["timings"]
        if times["prompt_n"] != PROMPT:
            sys.exit(f"compare: brisk took {times['prompt_n']} prompt tokens instead of {PROMPT}")
        # The first token of the answer comes out of the prompt's run; predicted_ms starts behind it.
        return {"prompt": 1e3 * times["prompt_n"] / times["prompt_ms"],
                "generation": 1e3 * (times["predicted_n"] - 1) / times["predicted_ms"], "tokens": values["tokens"],
                "others": result.others}


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "values": values}


def agreeing(a, b):
    """How many tokens are equal before the first that is not."""
    count = 0
    for x, y in zip(a, b):
        if x != y:
            break
        count += 1
    return count


def tokenize(args, model, folder):
    """A file with the prompt's ids, by the peer's tokenizer."""
    setting = Setting(args, model, 1, "")
    command = setting.peer_command("--text-file", str(args.text), "--prompt-tokens", str(PROMPT), "-n", "0", "--no-warmup")
    ids = json.loads(quiet.run(command).stdout)["prompt_tokens"]
    path = pathlib.Path(folder) / (pathlib.Path(model).stem + ".tokens")
    path.write_text(" ".join(map(str, ids)))
    return str(path)


def compare(setting):
    """The results of one setting: {"brisk": {...}, "peer": {...}, "ratio": {...}}."""
    programs = {"brisk": setting.run_brisk, "peer": setting.run_peer}
    if setting.args.only:
        programs = {setting.args.only: programs[setting.args.only]}
    runs = {name: [] for name in programs}
    for _ in range(setting.args.runs):
        for name, program in programs.items():
            runs[name].append(program())
            if len(runs) == 2 and all(len(r) == 1 for r in runs.values()):
                check_agreement(setting, runs)
    result = {"model": pathlib.Path(setting.model).name, "threads": setting.threads}
    for name, results in runs.items():
        result[name] = {what: spread([r[what] for r in results]) for what in ("prompt", "generation")}
        result[name]["others"] = max(r["others"] for r in results)
    if len(runs) == 2:
        result["agree"] = agreeing(runs["brisk"][0]["tokens"], runs["peer"][0]["tokens"])
        result["ratio"] = {what: result["brisk"][what]["median"] / result["peer"][what]["median"]
                           for what in ("prompt", "generation")}
    return result


def check_agreement(setting, runs):
    count = agreeing(runs["brisk"][0]["tokens"], runs["peer"][0]["tokens"])
    if count < setting.args.min_agree:
        sys.exit(f"compare: {setting.model}: only the first {count} greedy tokens agree; brisk "
                 f"{runs['brisk'][0]['tokens'][:8]}, peer {runs['peer'][0]['tokens'][:8]}")


def startup(setting, prompt):
    """Seconds from the start of the process to the first byte of the answer (brisk), of loading to the first token (peer)."""
    tokens = " ".join(prompt.split()[:STARTUP_PROMPT])
    result = {"model": pathlib.Path(setting.model).name, "threads": setting.threads}
    brisk, peer = [], []
    for _ in range(setting.args.runs):
        if setting.args.only != "peer":
            run = quiet.run_quietly(setting.brisk_command("--tokens", tokens, "-n", "1"), setting.args.patience)
            brisk.append(run.first_output_seconds)
        if setting.args.only != "brisk":
            command = setting.peer_command("--tokens", tokens, "-n", "1", "--no-warmup")
            run = quiet.run_quietly(command, setting.args.patience)
            peer.append(json.loads(run.stdout)["first_token_ms"] / 1e3)
    for name, values in (("brisk", brisk), ("peer", peer)):
        if values:
            result[name] = spread(values)
    return result


def show(value, digits=1):
    return f"{value['median']:.{digits}f} ({value['min']:.{digits}f}..{value['max']:.{digits}f})"


def print_row(out, result, what):
    columns = [result["model"], str(result["threads"]), what]
    columns += [show(result[name][what]) if name in result else "-" for name in ("brisk", "peer")]
    columns.append(f"{result['ratio'][what]:.2f}x" if "ratio" in result else "-")
    columns.append(f"{result['agree']} tokens" if "agree" in result else "-")
    columns.append("/".join(f"{result[name]['others']:.2f}" for name in ("brisk", "peer") if name in result))
    print(f"| {' | '.join(columns)} |", file=out, flush=True)


def print_startup(out, result):
    columns = [result["model"], str(result["threads"]), "first token, s"]
    columns += [show(result[name], 3) if name in result else "-" for name in ("brisk", "peer")]
    print(f"| {' | '.join(columns)} | - | - | - |", file=out, flush=True)


def main():
    args = arguments()
    if args.only != "peer" and not args.brisk.exists():
        sys.exit(f"compare: {args.brisk} is not built")
    if not (args.venv / "bin/python").exists():
        sys.exit(f"compare: {args.venv} is missing; bench/peers/setup.py makes it (the prompt is tokenized by it too)")
    out = sys.stderr if args.json == "-" else sys.stdout
    results = {"throughput": [], "startup": [], "processors": os.cpu_count()}
    print("| model | threads | tokens a second | brisk | llama.cpp | ratio | greedy agrees | others busy |", file=out)
    print("|---|---|---|---|---|---|---|---|", file=out)
    with tempfile.TemporaryDirectory(prefix="brisk-compare-") as folder:
        for model in args.model:
            prompt_file = tokenize(args, model, folder)
            for threads in map(int, args.threads.split(",")):
                setting = Setting(args, model, threads, prompt_file)
                results["throughput"].append(compare(setting))
                for what in ("prompt", "generation"):
                    print_row(out, results["throughput"][-1], what)
                if args.startup:
                    results["startup"].append(startup(setting, pathlib.Path(prompt_file).read_text()))
                    print_startup(out, results["startup"][-1])
    if args.json == "-":
        json.dump(results, sys.stdout, indent=1)
    elif args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
