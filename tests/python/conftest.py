"""Settings of all tests."""

import os

# Plans are verified after each pass, as they are in debug builds. Lucid reads the environment when it is first used.
os.environ.setdefault("LUCID_VERIFY", "1")
