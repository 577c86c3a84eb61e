"""From the best direction to contacts: the faces, lines and points that touch, and their common area."""
