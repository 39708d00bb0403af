"""The dialect `wayland`."""
