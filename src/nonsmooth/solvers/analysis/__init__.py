"""Questions about a problem that are no solve: which impulses are possible, which joints contradict."""
