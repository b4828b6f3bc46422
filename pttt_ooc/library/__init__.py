"""What `import pttt_ooc` gives to researchers: games, strategies, solutions and what can be asked of them."""
