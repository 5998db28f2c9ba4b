"""Keeps the results of compiles across runs: optimised modules and traces, by the content of all their inputs."""

import dataclasses
import json
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.corpus.corpus import Corpus, Module
from mlgo.corpus.options.driver import named_files
from mlgo.identity.code import COMPILES, digest_of_code
from mlgo.run import files
from mlgo.run.cache import Cache
from mlgo.run.manifest import digest_of_bytes, digest_of_file
from mlgo.trace.outcomes import is_done

_Work = Callable[[], Mapping[str, Any]]


class CompileCache:
    """Fills the folder of a stage with the cached results of its modules, and stores the new results afterwards.

    Args: identity: JSON values that all compiles of the run depend on, such as the compiler's digest.
    """

    def __init__(self, cache: Cache | None, identity: Mapping[str, Any]):
        self._cache = cache
        self._identity = {**identity, "code": digest_of_code(COMPILES)} if cache else {}

    def optimised(self, folder: pathlib.Path, corpus: Corpus, work: _Work) -> Mapping[str, Any]:
        """Fills `folder` with cached optimised modules and does the rest of the `work`; returns what `work` returns."""
        return self._filled("optimised", folder, corpus, lambda name: [f"{name}.bc", f"{name}.cmd"], work)

    def traced(
        self, folder: pathlib.Path, corpus: Corpus, policy: str | None, keep_decisions: bool, work: _Work
    ) -> Mapping[str, Any]:
        """The same for a trace. Args: policy: digest of the policy that decides; None: the compiler's heuristic."""
        what = f"trace of {policy or 'the default'}{'' if keep_decisions else ', scores only'}"
        return self._filled(what, folder, corpus, lambda name: [f"modules/{name}.arrays", f"modules/{name}.json"], work)

    def _filled(
        self, what: str, folder: pathlib.Path, corpus: Corpus, names_of: Callable[[str], Sequence[str]], work: _Work
    ) -> Mapping[str, Any]:
        """Args: names_of: the files of a module below `folder`; the last one is present when the module is done."""
        if self._cache is None:
            return work()
        unstored: list[tuple[str, list[pathlib.Path]]] = []
        # Shared by the modules: carried files may be large, so they are hashed once.
        shared = {**self._identity, "what": what, "corpus": dataclasses.replace(corpus, modules=()).digest}
        for module in corpus.modules:
            paths = [folder / name for name in names_of(module.name)]
            key = key_of(shared, module)
            # What is there is of this run before it was interrupted.
            found = None if paths[-1].exists() else self._cache.fetch(key)
            if found is None or paths[-1].suffix not in found:
                unstored.append((key, paths))
                continue
            for path in paths:
                if path.suffix in found:
                    files.write_atomically(path, found[path.suffix])
        summary = work()
        for key, paths in unstored:
            if paths[-1].exists() and (paths[-1].suffix != ".json" or is_done(paths[-1])):
                self._cache.store(key, {path.suffix: path.read_bytes() for path in paths if path.exists()})
        self._cache.trim()
        return summary


def key_of(shared: Mapping[str, Any], module: Module) -> str:
    """The key of what follows from `module` and from `shared`, JSON values."""
    index = module.read_thinlto_index()
    described = {
        **shared,
        "bitcode": digest_of_bytes(module.read_bitcode()),
        "command": list(module.command),
        "index": None if index is None else digest_of_bytes(index),
    }
    if module.allowed_options and (named := named_files(module.command)):
        described["named"] = [digest_of_file(path) for path in named]
    return digest_of_bytes(json.dumps(described, sort_keys=True).encode("utf-8"))
