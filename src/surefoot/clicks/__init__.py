"""From clicks to labels that say what to prefer."""
