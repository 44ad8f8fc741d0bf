"""What a memory is: rules, stacks and the reference they are tested against."""

from adastack.memory.reference import ReferenceStack
from adastack.memory.rules import RULES, Rule, check_stack_size, get_rule, register_rule
from adastack.memory.stack import Stack

__all__ = [
    "RULES",
    "ReferenceStack",
    "Rule",
    "Stack",
    "check_stack_size",
    "get_rule",
    "register_rule",
]
