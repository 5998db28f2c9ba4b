"""Answers every question of the compiler with the number given as the second argument.

The first argument is the base name of the channel, the rest is the compiler's command line.
"""

import ctypes
import json
import sys

import interactive_host


def send(f, value, spec):
    f.write(bytes(spec.element_type(value)))
    f.flush()


def main(args):
    number = float(args[1])
    # Unlike the function of interactive_host, this one also sends floats.
    interactive_host.send = lambda f, value, spec: send(
        f, value if spec.element_type == ctypes.c_float else int(value), spec
    )
    try:
        interactive_host.run_interactive(args[0], lambda _: number, args[2:])
    except (BrokenPipeError, json.JSONDecodeError):
        # The compiler ended, after a question or without one.
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
