"""How long a command for a compiler may be: constants, because the system's limits differ from machine to machine.

Linux starts a program with at most 128 KiB per word and, by default, 2 MiB in all: a quarter of the limit of the stack
(execve(2)). The environment and the pointers to words count too. A compile server has no such limit; the constants hold
there as well, so that a compile does not depend on how it is run.
"""

import os
from collections.abc import Iterable

from mlgo.corpus.options.parsing import CommandError

#: Bytes of one word without the NUL that ends it.
MOST_WORD_BYTES = 128 * 1024 - 1
#: Bytes of all words, and `_BYTES_PER_WORD` for each. A cc1 command of LLVM's own build has less than 20 KB.
MOST_BYTES = 1024**2
#: A pointer and the NUL.
_BYTES_PER_WORD = 9


def check_length(words: Iterable[str], subject: str) -> None:
    """Raises: CommandError: a compiler cannot be given `words`. Args: subject: what they are, for the message."""
    lengths = [len(os.fsencode(word)) for word in words]
    remedy = "Make it shorter: an option that is repeated counts once, and long lists belong into files"
    if (longest := max(lengths, default=0)) > MOST_WORD_BYTES:
        raise CommandError(
            subject, f"has a word of {longest:,} bytes, more than the {MOST_WORD_BYTES:,} allowed", remedy
        )
    if (total := sum(lengths) + _BYTES_PER_WORD * len(lengths)) > MOST_BYTES:
        wrong = f"has {len(lengths):,} words, {total:,} bytes in memory, more than the {MOST_BYTES:,} allowed"
        raise CommandError(subject, wrong, remedy)
