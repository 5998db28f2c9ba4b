"""Run folders of earlier versions, in which algorithms have other names."""

import pathlib

from mlgo.learning.algorithms.registry import current_names
from mlgo.run import files, manifest, run_folder, stages

#: Files that record the configuration of the run or of its learning stage.
_RECORDS = (run_folder.CONFIGURATION_NAME, f"learning/{stages.STARTED_NAME}", f"learning/{manifest.FILE_NAME}")


def rename(output: pathlib.Path) -> None:
    """Writes today's names into the records of the run in `output`, so that it can be resumed."""
    for path in (output / name for name in _RECORDS):
        if path.exists():
            recorded = files.read_json(path, "record of an earlier run", f"Delete {output}")
            if (current := current_names(recorded)) != recorded:
                files.write_json_atomically(path, current)
