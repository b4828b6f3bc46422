"""The package's files: indices and solutions as Zarr, infosets as text, tensors, HDF5."""
