"""The words the whole project speaks: frozen values, no behaviour that can fail."""
