"""The error of the farm."""


class FarmError(Exception):
    """The farm cannot start or go on; one sentence that says what failed and what to do."""
