"""The parts of a step: free motion and contacts, second order, position level, impacts."""
