"""CartPole with its positions or its velocities hidden."""
