"""Datasets and data loaders: an alias of lucid.utils.data."""

from .utils.data import *  # noqa: F403
