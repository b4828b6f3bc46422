"""The sweeps over all views: gradients, passes over the tree, and the engine that runs them on all threads."""
