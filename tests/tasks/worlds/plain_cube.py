"""A 2x2x2 cube as anyone would write it: stickers in a dictionary, turned by hand-written rules."""

FRONT, UP, RIGHT, BACK, DOWN, LEFT = range(6)

LOOKS_ALONG = {
    FRONT: (0, 0, 1),
    UP: (0, 1, 0),
    RIGHT: (1, 0, 0),
    BACK: (0, 0, -1),
    DOWN: (0, -1, 0),
    LEFT: (-1, 0, 0),
}

# The corners of each face, read like a page by one who looks at it.
PAGES = {
    FRONT: [(-1, 1, 1), (1, 1, 1), (-1, -1, 1), (1, -1, 1)],
    UP: [(-1, 1, -1), (1, 1, -1), (-1, 1, 1), (1, 1, 1)],
    RIGHT: [(1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1)],
    BACK: [(1, 1, -1), (-1, 1, -1), (1, -1, -1), (-1, -1, -1)],
    DOWN: [(-1, -1, 1), (1, -1, 1), (-1, -1, -1), (1, -1, -1)],
    LEFT: [(-1, 1, -1), (-1, 1, 1), (-1, -1, -1), (-1, -1, 1)],
}

# Clockwise for one who looks at that face.
CLOCKWISE = {
    FRONT: lambda x, y, z: (y, -x, z),
    BACK: lambda x, y, z: (-y, x, z),
    UP: lambda x, y, z: (-z, y, x),
    DOWN: lambda x, y, z: (z, y, -x),
    RIGHT: lambda x, y, z: (x, z, -y),
    LEFT: lambda x, y, z: (x, -z, y),
}


class PlainCube:
    def __init__(self):
        self.colour = {
            (corner, LOOKS_ALONG[face]): face for face, page in PAGES.items() for corner in page
        }

    def act(self, action):
        """The same sixteen actions: six faces, two senses, then look left, right, up, down."""
        if action < 12:
            face, other_way = divmod(action, 2)
            for _ in range(3 if other_way else 1):
                self._rotate(CLOCKWISE[face], lambda corner: self._on(face, corner))
        else:
            # To look left is to turn the cube right: as its top turns anticlockwise. And so on.
            face = [DOWN, UP, LEFT, RIGHT][action - 12]
            self._rotate(CLOCKWISE[face], lambda corner: True)

    def stickers(self):
        return [
            self.colour[corner, LOOKS_ALONG[face]] for face in range(6) for corner in PAGES[face]
        ]

    def solved(self):
        colours = self.stickers()
        return all(len(set(colours[first : first + 4])) == 1 for first in range(0, 24, 4))

    def _on(self, face, corner):
        return sum(a * b for a, b in zip(corner, LOOKS_ALONG[face], strict=True)) == 1

    def _rotate(self, rule, moves):
        self.colour = {
            (rule(*corner), rule(*looks)) if moves(corner) else (corner, looks): colour
            for (corner, looks), colour in self.colour.items()
        }
