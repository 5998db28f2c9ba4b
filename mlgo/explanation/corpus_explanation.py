"""Explains how a policy differs from the heuristic on a corpus: writes explanation.json and its page."""

import contextlib
import pathlib
import sys
from collections.abc import Iterator, Sequence

from mlgo.compiler.symbols import demangled
from mlgo.corpus.corpus import Corpus
from mlgo.explanation.corpus_page import explanation_page
from mlgo.explanation.decision import ExplainedDecision, explain, typical_of
from mlgo.explanation.explainer import Explainer
from mlgo.explanation.importance import share_of
from mlgo.explanation.replay import Replay
from mlgo.explanation.summary import choose_examples, content_of, observe
from mlgo.pages import markdown, rendering, terminal
from mlgo.run import files, progress
from mlgo.run.determinism import generator
from mlgo.trace.no_decisions import no_decisions
from mlgo.trace.outcomes import Outcome
from mlgo.trace.trace import Trace

#: The most decisions for the importance of features of a policy that is asked one state at a time.
_ONE_BY_ONE = 1_000


def explain_corpus(
    explainer: Explainer, *, modules: int, decisions: int, repeats: int, examples: int, seed: int
) -> None:
    """Writes the explanation below the explainer's folder and prints its figures.

    Args:
      modules: how many modules are drawn; 0: all.
      decisions: about how many decisions the importance of features is measured on.
      repeats: how often each feature is permuted.
    Raises: RunError: the corpus has no decision of the problem, or too many modules fail.
    """
    asked = explainer.asked
    corpus = _drawn(explainer.corpus, modules, seed)
    default = explainer.compiled("default_states", corpus, False)
    # Without the heuristic's answers there is nothing to compare in the states of the policy's own compiles.
    own = explainer.compiled("own_states", corpus, True) if explainer.problem.default_decision_spec else None
    records = [Trace.load(folder, corpus).records for folder in (default, own) if folder]
    failed = {
        name: record.failure_kind or ""
        for of_side in records
        for name, record in of_side.items()
        if record.outcome is Outcome.FAILED
    }
    names = [module.name for module in corpus.modules if module.name not in failed]
    sampled = decisions if asked.has_probabilities else min(decisions, _ONE_BY_ONE)
    rate = min(1.0, sampled / max(1, sum(records[0][name].decisions for name in names)))
    views = [observe(each, rate, seed) for each in _replays(explainer, default, names, False)]
    if not any(len(view.sample) for view in views):
        raise no_decisions(corpus, explainer.problem)
    own_differs = None
    if own:
        replays = _replays(explainer, own, names, True)
        counts = {each.recorded.module: (int(each.known_differs.sum()), len(each)) for each in replays}
        own_differs = share_of(counts, seed) if counts else None
    chosen = choose_examples(views, examples)
    explained: list[ExplainedDecision] = []
    for candidate in chosen:
        found = explainer.replayed(default, candidate.module, check=False)
        if found is None:
            raise ValueError(f"{candidate.module} has no decisions any more")
        explained += explain(found, [candidate.decision], typical_of(found))
    shown = demangled(explainer.cxxfilt, sorted({name for each in chosen for name in (each.function, each.callee)}))
    described = {"policy": explainer.digest, "corpus": explainer.corpus.digest, "seed": seed, "failed": failed}
    content = content_of(asked, described, views, own_differs, repeats, explained, shown)
    out, page = explainer.folder.path, explanation_page(content)
    files.write_json_atomically(out / "explanation.json", content)
    files.write_atomically(out / "explanation.md", markdown.document(page))
    files.write_atomically(out / "explanation.html", rendering.html(page))
    terminal.show(sys.stdout, page)
    print(f"\nResults: {out / 'explanation.json'}, explanation.md, explanation.html")


def _replays(
    explainer: Explainer, folder: pathlib.Path, modules: Sequence[str], under_policy: bool
) -> Iterator[Replay]:
    """Those of the modules with decisions. Args: under_policy: whether the policy took them."""
    title = f"replay of {'own' if under_policy else 'default'} states"
    with contextlib.closing(progress.start(title, len(modules), "modules")) as shown:
        for module in modules:
            if found := explainer.replayed(folder, module, check=under_policy):
                yield found
            shown.advance()


def _drawn(corpus: Corpus, count: int, seed: int) -> Corpus:
    names = [module.name for module in corpus.modules]
    if not 0 < count < len(names):
        return corpus
    drawn = generator(seed, "modules").permutation(len(names))[:count]
    return corpus.select([names[index] for index in drawn])
