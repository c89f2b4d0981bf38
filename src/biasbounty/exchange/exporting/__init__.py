"""Exporting: the parts of `exchange.export`, which writes a decision list as one ONNX file."""
