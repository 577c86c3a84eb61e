"""Systems with impacts and stick-slip, from event to event."""
