"""What is shown to people: pictures, the report, the progress of a solve."""
