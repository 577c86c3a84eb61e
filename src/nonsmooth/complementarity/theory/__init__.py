"""What can be known of a problem before it is solved."""
