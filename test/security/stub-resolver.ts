import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/**
 * Answers every question for the IPv4 addresses of a name at port 53, each to be asked anew (no time to
 * live); names nobody knows have none.
 */
export async function startStubResolver(
  addressesOf: (name: string) => readonly string[],
): Promise<Disposable> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { address, port }) => {
    socket.send(answerTo(question, addressesOf), port, address);
  });
  socket.bind(53, '127.0.0.1');
  await once(socket, 'listening');
  return { [Symbol.dispose]: () => void socket.close() };
}

const headerBytes = 12;
const typeA = 1;

// RFC 1035 §4: the question is sent back with the records behind it, each naming it by a pointer to where it
// stands.
function answerTo(message: Buffer, addressesOf: (name: string) => readonly string[]): Buffer {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const isAboutIpv4 = message.readUInt16BE(at + 1) === typeA;
  const addresses = isAboutIpv4 ? addressesOf(labels.join('.').toLowerCase()) : [];
  const head = Buffer.from(message.subarray(0, at + 5));
  head.writeUInt16BE(0x81_80, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.fill(0, 8, headerBytes);
  return Buffer.concat([head, ...addresses.map(recordOf)]);
}

function recordOf(address: string): Buffer {
  const noLifetime = [0, 0, 0, 0];
  return Buffer.from([
    0xc0,
    headerBytes,
    0,
    typeA,
    0,
    1,
    ...noLifetime,
    0,
    4,
    ...address.split('.').map(Number),
  ]);
}
