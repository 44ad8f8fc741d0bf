"""Our docstrings have an ``Example:`` as Gymnasium's do; the reference knows ``Examples:``."""

import re

import griffe


class Examples(griffe.Extension):
    """Shows the example of a docstring as code."""

    def on_object(self, *, obj, **_):
        """Called for every module, class, function and attribute."""
        if obj.docstring is not None:
            text = re.sub(r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.M)
            obj.docstring.value = text
