import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A host that does not answer an attempt to connect, as one behind a firewall. */
export interface DeafListener extends AsyncDisposable {
  readonly port: number;
  /**
   * It answers after less than half a second, and each request with a 200. A system whose first attempt was
   * lost tries again after a second.
   */
  hear(): void;
}

// Number of connections that the system completes by itself for a backlog of one, and one more.
const filling = 3;

/** Listens at an address of the loopback with a queue of connections that is full. */
export async function startDeafListener(host: string, port = 0): Promise<DeafListener> {
  const wake = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('deaf-worker.ts', import.meta.url), { workerData: { host, port, wake } });
  const [address] = (await once(worker, 'message')) as [AddressInfo];
  const fillers = Array.from({ length: filling }, () =>
    connect(address.port, host).on('error', () => undefined),
  );
  await Promise.all(fillers.slice(0, -1).map((each) => once(each, 'connect')));
  const hear = (): void => {
    for (const each of fillers) each.destroy();
    Atomics.store(wake, 0, 1);
    Atomics.notify(wake, 0);
  };
  return {
    port: address.port,
    hear,
    async [Symbol.asyncDispose]() {
      hear();
      await worker.terminate();
    },
  };
}
