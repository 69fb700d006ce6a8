"""Agents and what they do together: the protocol, matches, tables of results and game records."""
