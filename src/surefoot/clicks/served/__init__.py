"""What a served model needs at once: the sessions, users, queries and documents of a request, by plain loops.

A request looks at ten results. Tables take longer to set up than these loops run; the rules and values are those of
`shards/`, and tests replay logs event by event to hold the two together.
"""
