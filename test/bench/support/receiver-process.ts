import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A callback as the receiver saw it: when its head arrived, in milliseconds of the machine's clock with fractions. */
export interface Arrival {
  readonly path: string;
  readonly id: string;
  readonly at: number;
}

/** A receiver in a process of its own: `/hang…` is never answered, `/error…` with 500, `/reset…` with a reset, all else with 200 at once. */
export interface ReceiverProcess extends AsyncDisposable {
  readonly url: string;
  /** What has arrived since the last call. */
  arrivals(): Promise<Arrival[]>;
}

const self = fileURLToPath(import.meta.url);

/** Starts a receiver; it ends with this process at the latest. */
export async function startReceiverProcess(): Promise<ReceiverProcess> {
  const child = fork(self, ['serve'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const port = await ask<number>(child, 'port');
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals: () => ask<Arrival[]>(child, 'arrivals'),
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function ask<T>(child: ChildProcess, question: string): Promise<T> {
  const answered = once(child, 'message');
  child.send(question);
  const [answer] = (await answered) as [T];
  return answer;
}

async function serve(): Promise<void> {
  let arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const id = String(request.headers['webhook-id']);
    arrivals.push({ path, id, at: performance.timeOrigin + performance.now() });
    request.resume();
    if (path.startsWith('/hang')) return;
    if (path.startsWith('/reset')) return void request.socket.resetAndDestroy();
    const status = path.startsWith('/error') ? 500 : 200;
    request.on('end', () => response.writeHead(status, { 'content-length': 2 }).end('ok'));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  process.on('message', (question) => {
    process.send?.(question === 'port' ? port : arrivals);
    if (question !== 'port') arrivals = [];
  });
  process.on('disconnect', () => process.exit());
}

if (process.argv[2] === 'serve' && process.argv[1] === self) await serve();
