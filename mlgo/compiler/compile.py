"""Runs one compile inside limits and says what came of it."""

from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult


def compile_module(request: CompileRequest) -> CompileResult | CompileFailure:
    """Compiles one module; returns a failure instead of raising for everything the compiler does wrong."""
    raise NotImplementedError
