// Asks an exported decision list about the rows of a parity file, and counts the answers that differ.
//
//     node parity.js list.onnx parity.json
"use strict";

const fs = require("node:fs");
const ort = require("onnxruntime-node");

const ARRAYS = {
  double: Float64Array,
  float: Float32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
};
const NAMES = { double: "float64", float: "float32" };

function tensorOf(input, missingText) {
  if (input.type === "string") {
    const texts = input.values.map((text) => (text === null ? missingText : text));
    return new ort.Tensor("string", texts, input.shape);
  }
  const values = Float64Array.from(input.values, Number); // "NaN" and "-Infinity" are numbers to it
  return new ort.Tensor(NAMES[input.type], values, input.shape);
}

function expectedOf(parity) {
  if (parity.type === "string") return parity.expected;
  if (parity.type === "bool") return parity.expected.map(Number);
  const kind = ARRAYS[parity.type];
  return kind.from(parity.expected, parity.type.endsWith("64") ? BigInt : Number);
}

async function main([modelPath, parityPath]) {
  const parity = JSON.parse(fs.readFileSync(parityPath, "utf8"));
  const session = await ort.InferenceSession.create(modelPath, { intraOpNumThreads: 1 });
  const feeds = {};
  for (const input of parity.inputs) feeds[input.name] = tensorOf(input, parity.missing_text);
  const answers = (await session.run(feeds))[parity.output].data;
  const expected = expectedOf(parity);
  let different = Math.abs(answers.length - expected.length);
  for (let row = 0; row < Math.min(answers.length, expected.length); row++) {
    if (!Object.is(answers[row], expected[row])) different += 1;
  }
  console.log(JSON.stringify({ rows: answers.length, different, node: process.version, onnxruntime: ort.env.versions.node }));
  process.exitCode = different ? 1 : 0;
}

main(process.argv.slice(2));
