"""What a failure does to the job: one file an effect."""
