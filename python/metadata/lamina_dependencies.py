"""What the package needs when it runs: one wheel for all Pythons has nanobind's part in a package of its own."""

import os


def dynamic_metadata(field, settings=None, project=None):
    """For scikit-build-core."""
    needed = ["numpy>=1.23"]
    if os.environ.get("LAMINA_PYTHON_SPLIT"):
        needed.append("nanobind-backend>=1.0")
    return needed
