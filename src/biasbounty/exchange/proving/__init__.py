"""Proving: the parts of `exchange.onnx_rows`, which proves that a graph answers each row as if it were alone."""
