import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What a name server says of a name: its IPv4 addresses, or nothing at all. */
export type StubAnswer = readonly string[] | 'silence';

/** A name server for tests. */
export interface StubResolver extends Disposable {
  /** `address:port`. */
  readonly server: string;
  /** The names that it was asked for, once for each question. */
  readonly asked: readonly string[];
}

/**
 * Answers every question for the IPv4 addresses of a name, each to be asked anew unless `ttlSeconds` says
 * otherwise; names nobody knows have none. Questions for other records get no addresses.
 */
export async function startStubResolver(
  answerOf: (name: string) => StubAnswer,
  { port = 53, ttlSeconds = 0 } = {},
): Promise<StubResolver> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (message, { address, port: from }) => {
    const question = read(message);
    asked.push(question.name);
    const answer = answerOf(question.name);
    if (answer === 'silence') return;
    socket.send(
      answerTo(message, question, question.type === typeA ? answer : [], ttlSeconds),
      from,
      address,
    );
  });
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.dispose]: () => void socket.close(),
  };
}

const headerBytes = 12;
const typeA = 1;

interface Question {
  readonly name: string;
  readonly type: number;
  /** Where it ends in the message. */
  readonly end: number;
}

function read(message: Buffer): Question {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

// RFC 1035 §4: the question is sent back with the records behind it, each naming it by a pointer to where it
// stands.
function answerTo(message: Buffer, { end }: Question, addresses: readonly string[], ttl: number): Buffer {
  const head = Buffer.from(message.subarray(0, end));
  head.writeUInt16BE(0x81_80, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.fill(0, 8, headerBytes);
  return Buffer.concat([head, ...addresses.map((address) => recordOf(address, ttl))]);
}

function recordOf(address: string, ttl: number): Buffer {
  const lifetime = Buffer.alloc(4);
  lifetime.writeUInt32BE(ttl);
  return Buffer.from([
    0xc0,
    headerBytes,
    0,
    typeA,
    0,
    1,
    ...lifetime,
    0,
    4,
    ...address.split('.').map(Number),
  ]);
}
