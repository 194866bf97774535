// OpenEarable 2: its packets, as they come over the radio and lie in its files, as samples.

const SERVICE = "34c2e3bb-34aa-11eb-adc1-0242ac120002";
const DATA = "34c2e3bc-34aa-11eb-adc1-0242ac120002";
const CONFIG = "34c2e3be-34aa-11eb-adc1-0242ac120002";
const AT_100_HZ = Uint8Array.of(7, 3, 1);
const BONE_CONDUCTION = 7;
const HEADER_BYTES = 10;
const SAMPLE_BYTES = 6;
const PER_COUNT = 9.80665 / 16384;
const PERIOD_US = 10000;

// Read a packet of the bone-conduction accelerometer; nothing when it is another's or damaged.
export function decodePacket(view) {
  if (view.byteLength < HEADER_BYTES) return null;
  const size = view.getUint8(1);
  const whole = view.byteLength >= HEADER_BYTES + size;
  const several = (size - 2) % SAMPLE_BYTES === 0 && size > SAMPLE_BYTES;
  if (view.getUint8(0) !== BONE_CONDUCTION || !whole || !(several || size === SAMPLE_BYTES)) return null;
  const count = Math.floor(size / SAMPLE_BYTES);
  const samples = Float32Array.from({ length: 3 * count }, (_, place) =>
    view.getInt16(HEADER_BYTES + 2 * place, true) * PER_COUNT);
  const periodUs = several ? view.getUint16(HEADER_BYTES + size - 2, true) : PERIOD_US;
  return { timeUs: Number(view.getBigUint64(2, true)), periodUs, samples };
}

// Read a file that OpenEarable 2 wrote on its memory card; nothing when it is not one.
export function readFile(buffer) {
  const view = new DataView(buffer);
  const version = buffer.byteLength > HEADER_BYTES ? view.getUint16(0, true) : 0;
  if (![1, 2, 3].includes(version)) return null;
  let at = version === 3 ? view.getUint32(10, true) : HEADER_BYTES;
  const packets = [];
  while (at + HEADER_BYTES < buffer.byteLength) {
    const size = view.getUint8(at + 1);
    if (at + HEADER_BYTES + size > buffer.byteLength) break;
    packets.push(decodePacket(new DataView(buffer, at, HEADER_BYTES + size)));
    at += HEADER_BYTES + size;
  }
  const heard = packets.filter((packet) => packet !== null);
  if (!heard.length) return null;
  const samples = new Float32Array(heard.reduce((sum, packet) => sum + packet.samples.length, 0));
  heard.reduce((place, packet) => (samples.set(packet.samples, place), place + packet.samples.length), 0);
  return { rateHz: 1e6 / heard[0].periodUs, samples };
}

export const hasBluetooth = () => navigator.bluetooth !== undefined;

// Connect to an earphone that the user picks. Gives what ends it.
export async function connect({ give, lost }) {
  const device = await navigator.bluetooth.requestDevice({
    filters: [{ services: [SERVICE] }, { namePrefix: "OpenEarable" }],
    optionalServices: [SERVICE],
  });
  device.addEventListener("gattserverdisconnected", lost, { once: true });
  const service = await (await device.gatt.connect()).getPrimaryService(SERVICE);
  const data = await service.getCharacteristic(DATA);
  data.addEventListener("characteristicvaluechanged", ({ target }) => {
    const packet = decodePacket(target.value);
    if (packet !== null) give(packet.samples, packet);
  });
  await data.startNotifications();
  await (await service.getCharacteristic(CONFIG)).writeValue(AT_100_HZ);
  return {
    name: device.name ?? "OpenEarable",
    stop() {
      device.removeEventListener("gattserverdisconnected", lost);
      device.gatt.disconnect();
    },
  };
}
