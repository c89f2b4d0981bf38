"""Converting: the parts of `exchange.convert`, which writes fitted models as ONNX."""
