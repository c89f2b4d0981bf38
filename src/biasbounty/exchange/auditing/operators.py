"""Operators: which may be used, and whether the runtime has each for the types it is used with.

The list names what models of tables are made of. Left out are operators that answer at random or by the machine's
language, those whose answers onnxruntime gives otherwise than ONNX defines them (by ONNX's own tests), Einsum, which
ends the process where ranks are wrong, those for images, sound and attention, recurrent ones, and those for sequences
and optional values.
"""

from collections.abc import Iterator

from biasbounty.arrays import shown
from biasbounty.exchange.auditing.kernels import kernel_reasons
from biasbounty.exchange.auditing.reading import Model
from biasbounty.exchange.auditing.types import types_of
from biasbounty.exchange.auditing.versions import OPERATORS, plain_domain, versions_of
from biasbounty.exchange.auditing.walk import DEFAULT_DOMAIN, MACHINE_LEARNING, RANDOM, Node, called, graphs, subgraphs

_DEFAULT = """
Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization BitShift BitwiseAnd
BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Compress Concat Constant ConstantOfShape Conv
ConvTranspose Cos Cosh CumProd CumSum DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Elu
Equal Erf Exp Expand EyeLike Flatten Floor Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool
GlobalMaxPool Greater GreaterOrEqual GroupNormalization HardSigmoid HardSwish Hardmax Identity If
InstanceNormalization IsInf IsNaN LRN LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Loop
LpNormalization LpPool MatMul MatMulInteger Max MaxPool Mean MeanVarianceNormalization Min Mish Mod Mul Neg NonZero
Not OneHot Or PRelu Pad Pow QLinearMatMul QuantizeLinear RMSNormalization Range Reciprocal ReduceL1 ReduceL2
ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare RegexFullMatch Relu
Reshape ReverseSequence Round Scan Scatter ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size
Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze StringConcat StringSplit Sub Sum Swish Tan Tanh
TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Where Xor
"""
_LEARNED = """
ArrayFeatureExtractor Binarizer CategoryMapper FeatureVectorizer Imputer LabelEncoder LinearClassifier
LinearRegressor Normalizer OneHotEncoder SVMClassifier SVMRegressor Scaler TreeEnsemble TreeEnsembleClassifier
TreeEnsembleRegressor ZipMap
"""

ALLOWED = {DEFAULT_DOMAIN: frozenset(_DEFAULT.split()), MACHINE_LEARNING: frozenset(_LEARNED.split())}
"""The operators that may be used, by domain."""
_WITH_GRAPHS = ("If", "Loop", "Scan")


def operator_reasons(model: Model) -> Iterator[str]:
    """Yield what is wrong with the operators of a model."""
    versions = versions_of(model)
    if any(domain not in OPERATORS or version > OPERATORS[domain][1] for domain, version in versions.items()):
        return
    types = types_of(model, versions)
    for graph in graphs(model.graph):
        for node in graph.node:
            listed = list(_list_reasons(node, versions))
            yield from listed or kernel_reasons(node, versions[plain_domain(node.domain)], types)


def _list_reasons(node: Node, versions: dict[str, int]) -> Iterator[str]:
    domain, operator = plain_domain(node.domain), shown(node.op_type, str)
    if domain not in ALLOWED:
        yield (
            f"operator {operator} is of an unknown domain: expected ai.onnx or ai.onnx.ml, got {shown(node.domain)}; "
            "use operators of these two"
        )
    elif node.op_type in RANDOM:
        yield f"operator {operator} answers at random: expected the same answer each time, got dice; take it out"
    elif node.op_type not in ALLOWED[domain]:
        yield (
            f"operator {operator} is not allowed: expected one that models of tables need, got another; use others, or "
            "ask for it"
        )
    elif domain not in versions:
        yield f"operator {operator} has no version: expected an opset of {node.domain or 'ai.onnx'}, got none; name one"
    elif subgraphs(node) and node.op_type not in _WITH_GRAPHS:
        yield f"{called(node)} has a graph within: expected none, got one; take it out"
    elif node.op_type == "Dropout" and len(node.input) > 2 and node.input[2]:
        yield f"{called(node)} may be in training mode: expected two inputs at most, got three; export for inference"
