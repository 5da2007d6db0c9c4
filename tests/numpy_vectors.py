"""Which vector instructions numpy chooses at run time on this machine."""

from __future__ import annotations


def chosen() -> list[str]:
    """By the names that NPY_DISABLE_CPU_FEATURES takes."""
    try:
        from numpy._core import _multiarray_umath as numpys
    except ImportError:  # before numpy 2
        from numpy.core import _multiarray_umath as numpys
    return [name for name in numpys.__cpu_dispatch__ if numpys.__cpu_features__.get(name)]
