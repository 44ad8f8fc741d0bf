"""Drawings as small as they can be without looking different."""

from __future__ import annotations

import re


def slim(svg: str) -> str:
    """An SVG drawing without comments and metadata, and with coordinates to a hundredth.

    Example:
        >>> slim('<?xml version="1.0"?><!-- made --><svg><path d="M 1.23456 2"/> </svg>')
        '<svg><path d="M 1.23 2"/></svg>'
    """
    drawing = svg[svg.index("<svg") :]
    drawing = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r"<[^>]+>", lambda tag: _shorter(tag.group()), drawing)
    return re.sub(r">\s+<", "><", drawing).strip()


def _shorter(tag: str) -> str:
    # A scale multiplies: what a coordinate can do without changes every letter's size.
    shorter = re.sub(r"(scale\([^)]*\)|\.\d\d)\d*", r"\1", tag)
    return re.sub(r"\s+", " ", shorter)
