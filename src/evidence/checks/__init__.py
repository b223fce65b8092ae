"""What must stay true: each check yields findings."""
