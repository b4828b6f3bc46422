"""The sweeps over all views: gradients, passes over the tree, and the engine that runs them on all threads.

Modules: ``gradient``: the joint sweep. ``vectors``: its pieces in LLVM instructions. ``tree``: reach and strategies
downward, values and regrets upward. ``blocks``: views that are worked on together. ``engine``: kernels over slices, on
all threads. ``parallel``: calls on several threads with results in order.
"""
