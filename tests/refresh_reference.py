"""Execute the chapters with small parameters and keep them, outputs and all, as references.

Strict nbval then proves that the recorded numbers come again. Run it when a change of numbers is
meant, and review the difference: python -m tests.refresh_reference
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import yaml

from tests.conftest import ROOT
from unbidden.execute import run_chapter

RUN = "reference"


def main() -> None:
    """Write tests/reference/*.ipynb, without times, paths and the machine's kernel details."""
    presets = yaml.safe_load((ROOT / "notebooks" / "study.yaml").read_text("utf-8"))["presets"]
    for chapter, parameters in presets["smoke"].items():
        folder = run_chapter(chapter, run=RUN, parameters=parameters)
        notebook = json.loads((folder / f"{chapter}.ipynb").read_text("utf-8"))
        kernel = notebook["metadata"]["kernelspec"]
        notebook["metadata"] = {"kernelspec": kernel, "language_info": {"name": "python"}}
        for cell in notebook["cells"]:
            for key in ("papermill", "execution"):
                cell["metadata"].pop(key, None)
            if "injected-parameters" in cell["metadata"].get("tags", ()):
                cell["id"] = "injected"  # papermill draws a new one each time
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        (ROOT / "tests" / "reference" / f"{chapter}.ipynb").write_text(text, "utf-8")
        print(chapter, len(text))


def copy_for_nbval() -> Path:
    """Return a scratch folder inside the project with copies to execute."""
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="nbval-", dir=build))
    for path in (ROOT / "tests" / "reference").glob("*.ipynb"):
        shutil.copy(path, folder)
    return folder


if __name__ == "__main__":
    main()
