"""What experiments are made of: memories compared at some points, their figures and their tests."""
