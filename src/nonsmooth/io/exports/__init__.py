"""Files for other programs: VTK, glTF and tables."""
