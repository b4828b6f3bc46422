"""Output for people: pictures, the report, the progress of a solve."""
