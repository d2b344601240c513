"""Run the command line as ``python -m bayesieve.cli``."""

from __future__ import annotations

import sys

from bayesieve.cli._app import main

if __name__ == "__main__":
    sys.exit(main())
