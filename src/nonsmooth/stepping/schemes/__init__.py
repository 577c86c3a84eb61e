"""How one step is done: free motion and contacts, second order, position level, impacts."""
