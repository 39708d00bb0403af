"""The dialect `codegen`."""
