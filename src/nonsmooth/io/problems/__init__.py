"""Problem files: the own format, FCLib and Siconos."""
