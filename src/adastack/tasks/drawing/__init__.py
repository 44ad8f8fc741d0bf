"""Pictures of tasks and stacks."""
