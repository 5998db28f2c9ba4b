"""Prints, as ASCII: the arguments, and name and content of each file in the runfiles folder data/."""

import os
import pathlib
import sys

DATA = pathlib.Path(os.path.abspath(__file__)).parent / "data"

print(*map(ascii, sys.argv[1:]))
for path in sorted(DATA.iterdir()):
    print(ascii(path.name), ascii(path.read_text(encoding="utf-8")))
