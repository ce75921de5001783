"""The release gate: a policy and judged queries become one decision, with its exit code and renderings."""
