"""The filling of a container in several engines: one file per engine, all measured by the same code."""
