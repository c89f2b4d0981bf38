"""Auditing: the parts of `exchange.onnx_audit`, which looks at a file before anything of it is run."""
