"""What users' files become: rankings, runs, judgments, score matrices, labelled documents."""
