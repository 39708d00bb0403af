"""The dialect `phoenix`."""
