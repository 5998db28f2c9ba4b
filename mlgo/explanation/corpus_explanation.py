"""Explains how a policy differs from the heuristic on a corpus: writes explanation.json and its page."""

import dataclasses
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from mlgo.compiler.symbols import demangled
from mlgo.corpus.corpus import Corpus
from mlgo.explanation.attribution import formula
from mlgo.explanation.corpus_page import explanation_page
from mlgo.explanation.decision import explain, typical_of
from mlgo.explanation.explainer import Explainer
from mlgo.explanation.importance import Share, importances, share_of
from mlgo.explanation.queried_policy import QueriedNetwork
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.explanation.replay import Replay
from mlgo.explanation.summary import ModuleView, choose_examples, content_of, observe
from mlgo.learning.observations import concatenate
from mlgo.pages import markdown, rendering, terminal
from mlgo.run import files, progress
from mlgo.run.determinism import generator
from mlgo.trace.no_decisions import no_decisions
from mlgo.trace.outcomes import Outcome
from mlgo.trace.trace import Trace

#: The most decisions for the importance of features of a policy that is asked one state at a time.
_ONE_BY_ONE = 1_000
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class CorpusRequest:
    """What is measured on a corpus."""

    modules: int  #: how many modules are drawn; 0: all.
    decisions: int  #: about how many decisions the importance of features is measured on.
    repeats: int  #: how often each feature is permuted.
    examples: int
    seed: int


def explain_corpus(explainer: Explainer, request: CorpusRequest) -> None:
    """Writes the explanation below the explainer's folder and prints its figures.

    Raises: RunError: the corpus has no decision of the problem, or too many modules fail.
    """
    problem, seed = explainer.problem, request.seed
    corpus = _drawn(explainer.corpus, request)
    default = explainer.compiled("default_states", corpus, False)
    # Without the heuristic's answers there is nothing to compare in the states of the policy's own compiles.
    own = explainer.compiled("own_states", corpus, True) if problem.default_decision_spec else None
    records = [Trace.load(folder, corpus).records for folder in (default, own) if folder]
    failed = {
        name: record.failure_kind or ""
        for of_side in records
        for name, record in of_side.items()
        if record.outcome is Outcome.FAILED
    }
    modules = [module.name for module in corpus.modules if module.name not in failed]
    sampled = request.decisions if explainer.asked.has_probabilities else min(request.decisions, _ONE_BY_ONE)
    rate = min(1.0, sampled / max(1, sum(records[0][name].decisions for name in modules)))
    views = _of_modules(
        explainer, default, modules, False, lambda decided, answers: observe(problem, decided, answers, rate, seed)
    )
    views = [view for view in views if view.decisions]
    if not any(len(view.sample) for view in views):
        raise no_decisions(corpus, problem)
    own_differs = None
    if own:
        counts = _of_modules(
            explainer,
            own,
            modules,
            True,
            lambda decided, answers: (decided.module, (int(answers.known_differs.sum()), len(decided))),
        )
        own_differs = share_of(dict(counts), seed) if counts else None
    out = explainer.folder.path
    content = _content(explainer, request, default, views, own_differs, failed)
    page = explanation_page(content)
    files.write_json_atomically(out / "explanation.json", content)
    files.write_atomically(out / "explanation.md", markdown.document(page))
    files.write_atomically(out / "explanation.html", rendering.html(page))
    terminal.show(sys.stdout, page)
    print(f"\nResults: {out / 'explanation.json'}, explanation.md, explanation.html")


def _content(
    explainer: Explainer,
    request: CorpusRequest,
    default: pathlib.Path,
    views: Sequence[ModuleView],
    own: Share | None,
    failed: Mapping[str, str],
) -> dict[str, Any]:
    problem, asked, seed = explainer.problem, explainer.asked, request.seed
    sample = concatenate([view.sample for view in views])
    module_of = np.repeat(np.arange(len(views)), [len(view.sample) for view in views])
    modules = [view.module for view in views]
    chosen = choose_examples(views, request.examples)
    examples = []
    for candidate in chosen:
        view = explainer.replayed(default, candidate.module, check=False)
        if view is None:
            raise ValueError(f"{candidate.module} has no decisions any more")
        decided, answers = view
        typical = typical_of(problem, [decided], [answers.observations])
        examples += explain(asked, problem, decided, answers, [candidate.decision], typical)
    described = {"problem": problem.name, "policy": explainer.digest, "corpus": explainer.corpus.digest}
    return content_of(
        {**described, "seed": seed, "failed": failed},
        views,
        own,
        importances(asked, problem, sample, modules, module_of, seed, request.repeats),
        {"decisions": len(sample), "repeats": request.repeats},
        formula(asked.network) if isinstance(asked, QueriedNetwork) else None,
        examples,
        demangled(explainer.cxxfilt, sorted({name for each in chosen for name in (each.function, each.callee)})),
    )


def _of_modules(
    explainer: Explainer,
    folder: pathlib.Path,
    modules: Sequence[str],
    under_policy: bool,
    look: Callable[[RecordedDecisions, Replay], T],
) -> list[T]:
    """look(decisions, answers) of every module with decisions. Args: under_policy: whether the policy took them."""
    shown = progress.start(f"replay of {'own' if under_policy else 'default'} states", len(modules), "modules")
    found = []
    try:
        for module in modules:
            if (view := explainer.replayed(folder, module, check=under_policy)) is not None:
                found.append(look(*view))
            shown.advance()
    finally:
        shown.close()
    return found


def _drawn(corpus: Corpus, request: CorpusRequest) -> Corpus:
    names = [module.name for module in corpus.modules]
    if not 0 < request.modules < len(names):
        return corpus
    drawn = generator(request.seed, "modules").permutation(len(names))[: request.modules]
    return corpus.select([names[index] for index in drawn])
