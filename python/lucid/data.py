"""Datasets and the loader: another name of lucid.utils.data."""

from .utils.data import *  # noqa: F403
