"""Installs the package with what its users have beside it into a new environment, and runs test_itself.py there."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent
BESIDE = ["standardwebhooks", "mypy", "flask", "fastapi", "httpx", "psycopg[binary]"]

with tempfile.TemporaryDirectory() as folder:
    venv.create(folder, with_pip=True)
    python = str(Path(folder, "bin", "python"))
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{PACKAGE}[v1a]", *BESIDE], check=True)
    tests = [str(HERE / "test_itself.py"), str(HERE.parent / "test_receiver.py")]
    sys.exit(max(subprocess.run([python, test], cwd=folder).returncode for test in tests))
