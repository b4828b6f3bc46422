"""The package's files: indices and solutions as Zarr, infosets as text, tensors, HDF5.

Modules: ``structure_store``, ``solution``, ``equilibrium``: structure, solutions and equilibria as Zarr. ``infosets``,
``tensors`` with ``deflate``, ``bundle``: the course's texts and tensors, and HDF5. ``file_headers``: attributes, shapes
and dtypes of files. ``zipped_array``, ``tensor_reader``: untrusted zips and tensors, row by row. ``gambit``: a whole
game as a file of Gambit. ``export``: all files in one pass, with their names: ``export_names``.
"""
