"""Memory in the tools people already train with; each module is imported only when it is used."""
