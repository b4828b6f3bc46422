"""Questions to a pair of strategies: what happens at an infoset, why, and where it loses."""
