"""Export formats: VTK, glTF and tables."""
