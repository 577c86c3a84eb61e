"""Problem files: ours, FCLib's and Siconos'."""
