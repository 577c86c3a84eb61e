"""What people look at: tables for the terminal, plots, the JSON form of an answer.

Every function returns what is to be shown; whoever calls it decides where it goes.
"""
