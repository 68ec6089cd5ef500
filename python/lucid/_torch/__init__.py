"""Reading of the files that torch.save writes.

`archive` reads bytes and zip entries, `pickles` interprets pickles with a closed table of constructors, `tensors` is
that table, and `load` puts them together. Files are untrusted: sizes are compared with the size of the file before
memory is allocated, no name in a file is imported, and everything unexpected raises ValueError.
"""
