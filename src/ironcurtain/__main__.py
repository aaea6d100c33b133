"""`python -m ironcurtain`."""

import sys

from ironcurtain.cli.main import main

sys.exit(main())
