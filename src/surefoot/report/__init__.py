"""An assessment and its renderings."""
