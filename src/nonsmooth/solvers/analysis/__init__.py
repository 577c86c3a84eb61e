"""Analysis of a problem without a solve: admissible impulses, contradicting joints."""
