#!/usr/bin/env python3
"""Measures llama.cpp through its own low-level calls; run with the Python of bench/peers/setup.py's environment.

    llama_peer.py -m MODEL [-t N] [-n 64] [--prompt-tokens 512] [--flash-attention auto|on|off]
                  [--tokens "1 2 3" | --tokens @FILE | --text-file FILE]

Prints one JSON object: prompt_tokens (ids), tokens (ids chosen greedily, end-of-generation ids excluded),
prompt_tps, gen_tps, load_ms, first_token_ms (from the start of loading).
"""
import argparse
import ctypes
import json
import pathlib
import time

import numpy
import llama_cpp as llama


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("-t", "--threads", type=int, default=1)
    parser.add_argument("-n", "--generate", type=int, default=64)
    parser.add_argument("--prompt-tokens", type=int, default=512, help="length to which the text is repeated or cut")
    parser.add_argument("--tokens", help="the prompt as ids, or @FILE with them")
    parser.add_argument("--text-file", help="a text that becomes the prompt")
    parser.add_argument("--flash-attention", choices=["auto", "on", "off"], default="auto")
    parser.add_argument("--no-warmup", action="store_true")
    return parser.parse_args()


class Peer:
    FLASH = {"auto": llama.LLAMA_FLASH_ATTN_TYPE_AUTO, "on": llama.LLAMA_FLASH_ATTN_TYPE_ENABLED,
             "off": llama.LLAMA_FLASH_ATTN_TYPE_DISABLED}

    def __init__(self, args):
        # The callback must outlive every call into the library.
        self.quiet = llama.llama_log_callback(lambda level, text, data: None)
        llama.llama_log_set(self.quiet, ctypes.c_void_p(0))
        llama.llama_backend_init()
        params = llama.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model = llama.llama_model_load_from_file(args.model.encode(), params)
        if not self.model:
            raise SystemExit(f"llama_peer: cannot load {args.model}")
        self.vocab = llama.llama_model_get_vocab(self.model)
        self.n_vocab = llama.llama_vocab_n_tokens(self.vocab)
        context = llama.llama_context_default_params()
        context.n_ctx = 1024
        context.n_batch = context.n_ubatch = 512
        context.n_threads = context.n_threads_batch = args.threads
        context.flash_attn_type = self.FLASH[args.flash_attention]
        self.context = llama.llama_init_from_model(self.model, context)
        if not self.context:
            raise SystemExit("llama_peer: cannot create a context")

    def end_ids(self):
        return [i for i in range(self.n_vocab) if llama.llama_vocab_is_eog(self.vocab, i)]

    def tokenize(self, text):
        data = text.encode()
        out = (llama.llama_token * (len(data) + 8))()
        count = llama.llama_tokenize(self.vocab, data, len(data), out, len(out), True, False)
        return list(out[:count])

    def decode(self, ids):
        """Runs the ids and waits for the logits of the last one."""
        array = (llama.llama_token * len(ids))(*ids)
        if llama.llama_decode(self.context, llama.llama_batch_get_one(array, len(ids))) != 0:
            raise SystemExit("llama_peer: llama_decode failed")
        llama.llama_synchronize(self.context)
        return numpy.ctypeslib.as_array(llama.llama_get_logits_ith(self.context, -1), shape=(self.n_vocab,))

    def clear(self):
        llama.llama_memory_clear(llama.llama_get_memory(self.context), True)


def prompt_ids(peer, args):
    if args.tokens:
        text = pathlib.Path(args.tokens[1:]).read_text() if args.tokens.startswith("@") else args.tokens
        return [int(word) for word in text.replace(",", " ").split()]
    text = pathlib.Path(args.text_file or __file__).read_text(encoding="utf-8")
    ids = peer.tokenize(text)
    while len(ids) < args.prompt_tokens:
        ids += ids
    return ids[:args.prompt_tokens]


def main():
    args = arguments()
    start = time.perf_counter()
    peer = Peer(args)
    load_ms = (time.perf_counter() - start) * 1e3
    ids, ends = prompt_ids(peer, args), None
    if not args.no_warmup:
        ends = peer.end_ids()
        peer.decode(ids)
        peer.decode(ids[:1])
        peer.clear()
    begin = time.perf_counter()
    logits = peer.decode(ids)
    prompt_seconds = time.perf_counter() - begin
    first_token_ms = (time.perf_counter() - start) * 1e3
    ends = peer.end_ids() if ends is None else ends
    tokens = []
    begin = time.perf_counter()
    for _ in range(args.generate):
        logits[ends] = -numpy.inf
        tokens.append(int(logits.argmax()))
        logits = peer.decode(tokens[-1:])
    gen_seconds = time.perf_counter() - begin
    print(json.dumps({
        "prompt_tokens": ids, "tokens": tokens, "prompt_tps": len(ids) / prompt_seconds,
        "gen_tps": len(tokens) / gen_seconds, "load_ms": load_ms, "first_token_ms": first_token_ms}))


if __name__ == "__main__":
    main()
