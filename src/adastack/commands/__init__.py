"""The verbs of the command line, one module each.

A verb's module has ``add_arguments(parser)``, ``run(args)`` that returns what
``--json`` prints, and ``show(result)`` that prints the same for a person.
"""
