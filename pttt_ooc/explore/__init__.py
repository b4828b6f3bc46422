"""Pages on which strategies are looked into and played against: Explore, Mistakes, Play."""
