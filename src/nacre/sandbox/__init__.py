"""Mechanisms that hold a launch to a confinement."""
