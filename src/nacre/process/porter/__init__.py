"""The process that carries calls into containers, in the place of a warden."""
