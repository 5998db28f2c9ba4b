"""Writes the borders of a policy's segments, where decisions are most delicate: lines "<feature> <value>".

borders POLICY.json OUT.txt
"""

import json
import pathlib
import sys


def main(policy: str, out: str) -> None:
    columns = json.loads(pathlib.Path(policy).read_text(encoding="utf-8"))["normalizer"]["columns"]
    # Of a number of an embedding, "callee_embedding[3]", the tensor is named.
    tensors = [(feature.partition("[")[0], start, end) for feature, start, end in columns]
    lines = [f"{tensor} {border!r}\n" for tensor, start, end in tensors for border in (start, end)]
    pathlib.Path(out).write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
