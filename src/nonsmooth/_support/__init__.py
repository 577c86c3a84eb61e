"""What every room may use: how kernels are compiled and kept, checks of options, interrupts, words."""
