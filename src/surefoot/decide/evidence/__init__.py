"""What is known of judged queries: how they were drawn, what each condition makes of them, and what that proves."""
