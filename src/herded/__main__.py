"""python -m herded"""

import sys

from herded.cli.main import main

sys.exit(main())
