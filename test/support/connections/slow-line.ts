import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { commandOf, splitValues } from './resp-values.ts';

/** A long line to a Redis: what is sent over it arrives in order and as fast as ever, only later. */
export interface SlowLine extends AsyncDisposable {
  readonly url: string;
  /** Commands sent over it so far, by name in capitals. */
  readonly commands: ReadonlyMap<string, number>;
  /** Connections that it has reset so far. */
  resets(): number;
  /** Resets every connection. */
  reset(): void;
  /** From now on; what is not named stays. */
  change(quality: Partial<LineQuality>): void;
}

export interface LineQuality {
  /** Milliseconds in each direction; a round trip takes twice as long, and so does connecting. */
  readonly delayMs: number;
  /** Probability that a connection is reset, in each second anew; what is on its way then is lost. */
  readonly resetShare: number;
}

export interface SlowLineOptions extends Partial<LineQuality> {
  /** What resets are drawn from, in [0, 1). */
  readonly random?: () => number;
  /**
   * Called with each command that comes over the line, before it is delayed; `connection` numbers them from
   * 1.
   */
  readonly onCommand?: (command: string, connection: number, request: Buffer) => void;
}

const drawEveryMs = 1_000;

/** Listens on a port of 127.0.0.1 and passes on to another. */
export async function startSlowLine(port: number, options: SlowLineOptions = {}): Promise<SlowLine> {
  const { random = Math.random, onCommand } = options;
  let quality: LineQuality = { delayMs: 0, resetShare: 0, ...options };
  const commands = new Map<string, number>();
  const open = new Set<Socket>();
  let connections = 0;
  let resets = 0;

  const server = createServer((client) => {
    connections += 1;
    const number = connections;
    open.add(client);
    client.once('close', () => open.delete(client));
    let unread = Buffer.alloc(0);
    client.on('data', (bytes: Buffer) => {
      const { values, rest } = splitValues(Buffer.concat([unread, bytes]));
      unread = Buffer.from(rest);
      for (const request of values) {
        const name = commandOf(request);
        commands.set(name, (commands.get(name) ?? 0) + 1);
        onCommand?.(name, number, request);
      }
    });
    passOn(client, port, () => quality.delayMs);
  });
  const resetSome = (share: number): void => {
    for (const client of open) {
      if (random() >= share) continue;
      resets += 1;
      client.resetAndDestroy();
    }
  };
  const draw = setInterval(() => resetSome(quality.resetShare), drawEveryMs);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    commands,
    resets: () => resets,
    reset: () => resetSome(1),
    change(changed) {
      quality = { ...quality, ...changed };
    },
    async [Symbol.asyncDispose]() {
      clearInterval(draw);
      for (const client of open) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function passOn(client: Socket, port: number, delayMs: () => number): void {
  const server = connect(port, '127.0.0.1');
  for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => undefined);
  // The handshake of a real line takes a round trip before anything can be sent.
  carry(client, server, delay(2 * delayMs()), delayMs);
  carry(server, client, Promise.resolve(), delayMs);
}

// Each piece comes so long after it was sent, and not before those ahead of it.
function carry(from: Socket, to: Socket, opened: Promise<unknown>, delayMs: () => number): void {
  let last = opened;
  const send = (act: () => void): void => {
    last = Promise.all([last, delay(delayMs())]).then(act);
  };
  from.on('data', (bytes: Buffer) => send(() => to.writable && to.write(bytes)));
  from.on('close', () => send(() => to.destroy()));
}
