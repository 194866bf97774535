"""Run every benchmark, or the named ones: ``python -m benchmarks [NAME...]``."""

import subprocess
import sys
from pathlib import Path

known = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
chosen = sys.argv[1:] or known
if strangers := [name for name in chosen if name not in known]:
    sys.exit(f"no benchmark is called {', '.join(strangers)}; there are {', '.join(known)}")
failed = []
for name in chosen:
    print(f"\n=== {name} ===", flush=True)
    if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:  # noqa: S603
        failed.append(name)
sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
