"""What people look at: pictures and films, the browser page, and what of a run other programs get."""
