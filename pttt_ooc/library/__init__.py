"""What `import pttt_ooc` gives to researchers: games, strategies, solutions, and their evaluation."""
