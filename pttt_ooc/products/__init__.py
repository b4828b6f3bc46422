"""What is written for others to read: indices and solutions as Zarr, infosets as text, tensors, HDF5."""
