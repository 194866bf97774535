// The binary frame of docs/service.md: "ACLK", a header, then x y z per sample as float32.

const HEADER_BYTES = 28;

// samples: Float32Array, x y z of each sample one after another, in m/s².
export function encodeFrame({ samples, sequence, timeUs, periodUs }) {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + 4 * samples.length));
  [0x41, 0x43, 0x4c, 0x4b, 1, 1].forEach((byte, place) => view.setUint8(place, byte));
  view.setUint16(6, samples.length / 3, true);
  view.setUint32(8, sequence, true);
  view.setBigUint64(12, BigInt(Math.round(timeUs)), true);
  view.setUint32(20, periodUs, true);
  view.setFloat32(24, 1, true);
  samples.forEach((value, place) => view.setFloat32(HEADER_BYTES + 4 * place, value, true));
  return view.buffer;
}
