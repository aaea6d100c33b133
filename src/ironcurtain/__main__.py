"""`python -m ironcurtain`."""

import sys

from ironcurtain.entry import main

sys.exit(main())
