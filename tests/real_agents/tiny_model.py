"""A model server of one's own, as people run them: llama.cpp's, with a model made here.

    tiny_model.py FOLDER BEGIN REST DISTANCE      run by the Python that has `xllamacpp` and `gguf`

The model answers BEGIN, the nonce, REST. BEGIN and REST are tokens, hexadecimal digits are tokens, and all other tokens
are bytes. Its one layer has one head, which looks back DISTANCE tokens: if a digit stands there, that is the next token,
and behind the last one comes REST. Where a grammar leaves no choice about the nonce, the distance does not matter.
Prints the server's address, and ends with its standard input.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gguf
import numpy as np
import xllamacpp

WIDTH = 512
HEADS = 8
HEAD = WIDTH // HEADS
HIDDEN = 32
UNKNOWN, START, END = range(3)
SPACE = 3 + ord(" ")
BEGIN = 3 + 256
REST = BEGIN + 1
DIGITS = list(range(REST + 1, REST + 17))
# Where the state keeps what was found, by its place in FOUND, and what is the same for each token.
FOUND = [*DIGITS, SPACE]
COPY = 400
ALWAYS = WIDTH - 1


def tokens(begin: str, rest: str) -> list[tuple[bytes, gguf.TokenType]]:
    """The vocabulary, in the order of the ids above."""
    special = [(b"<unk>", gguf.TokenType.UNKNOWN), (b"<s>", gguf.TokenType.CONTROL), (b"</s>", gguf.TokenType.CONTROL)]
    plain = [begin, rest, *"0123456789abcdef"]
    return [*special, *((f"<0x{byte:02X}>".encode(), gguf.TokenType.BYTE) for byte in range(256)),
            *((text.replace(" ", "\u2581").encode(), gguf.TokenType.NORMAL) for text in plain)]


def embedding(count: int) -> np.ndarray:
    state = np.eye(count, WIDTH, dtype=np.float32)
    state[:, ALWAYS] = 1
    return state


def follows(count: int) -> np.ndarray:
    """How much each token (row) is wanted after each state (column)."""
    wanted = np.zeros((count, WIDTH), dtype=np.float32)
    wanted[BEGIN, :BEGIN] = 100
    wanted[END, REST] = 100
    wanted[REST, DIGITS] = 1
    for place, token in enumerate(FOUND):
        wanted[REST if token == SPACE else token, COPY + place] = 1
    return wanted


def looking_back(distance: int) -> dict[str, np.ndarray]:
    """The head's matrices: the rotation by position is greatest where the key is that many tokens before the query."""
    query, key, value, out = (np.zeros((WIDTH, WIDTH), dtype=np.float32) for _ in range(4))
    angles = distance * 10000.0 ** (-np.arange(0, HEAD, 2) / HEAD)
    sharpness = 1.5
    query[0:HEAD:2, ALWAYS] = sharpness * np.cos(angles)
    query[1:HEAD:2, ALWAYS] = -sharpness * np.sin(angles)
    key[0:HEAD:2, ALWAYS] = sharpness
    for place, token in enumerate(FOUND):
        value[place, token] = out[COPY + place, place] = 1
    return {"attn_q": query, "attn_k": key, "attn_v": value, "attn_output": out}


def write(path: Path, begin: str, rest: str, distance: int) -> None:
    words = tokens(begin, rest)
    one = np.ones(WIDTH, dtype=np.float32)
    blank = lambda rows, columns: np.zeros((rows, columns), dtype=np.float32)  # noqa: E731
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(1 << 18)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in words])
    writer.add_token_types([kind for _, kind in words])
    # BEGIN and REST are never read from a prompt, which would be a byte longer or shorter by them.
    writer.add_token_scores([-1000.0] * len(words))
    writer.add_bos_token_id(START)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(UNKNOWN)
    writer.add_chat_template("{% for message in messages %}{{ message['content'] }}\n{% endfor %}")
    writer.add_tensor("token_embd.weight", embedding(len(words)))
    writer.add_tensor("output_norm.weight", one)
    writer.add_tensor("output.weight", follows(len(words)))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", one)
    for name, matrix in looking_back(distance).items():
        writer.add_tensor(f"blk.0.{name}.weight", matrix)
    writer.add_tensor("blk.0.ffn_gate.weight", blank(HIDDEN, WIDTH))
    writer.add_tensor("blk.0.ffn_up.weight", blank(HIDDEN, WIDTH))
    writer.add_tensor("blk.0.ffn_down.weight", blank(WIDTH, HIDDEN))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    folder, begin, rest, distance = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(folder) / "tiny.gguf")
    params.n_ctx, params.n_parallel, params.warmup = 1 << 16, 1, False
    params.sampling.temp = 0.0
    # More threads wait for each other, and a machine at work has no idle ones.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    write(Path(params.model.path), begin, rest, int(distance))
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
