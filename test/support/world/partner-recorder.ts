import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { stateKey } from '../journals/check-chain.ts';
import type { PartnerState, Served } from '../journals/journals.ts';

/** A way to the partner service that writes down what passes. */
export interface PartnerRecorder extends AsyncDisposable {
  readonly baseUrl: string;
  /** Every state of every filing that was ever served whole, with the first time. */
  readonly served: readonly Served[];
  /** So long every answer is held back from now on; 0 at first. */
  latencyMs: number;
}

interface FilingDocument {
  readonly id: string;
  readonly status: string;
  readonly completedAt?: string | null;
  readonly rejectionReason?: string | null;
}

/**
 * Passes everything on to `target` (a base address) and keeps the states in answers. `accountOf` tells whose
 * key a request bears.
 */
export async function startPartnerRecorder(
  target: string,
  accountOf: (partnerKey: string) => string,
): Promise<PartnerRecorder> {
  const served = new Map<string, Served>();

  function note(account: string, filingId: string, state: PartnerState, first: number): void {
    const key = JSON.stringify([account, filingId, stateKey(state)]);
    if (!served.has(key)) served.set(key, { account, filingId, state, first });
  }

  function noteAnswer(account: string, path: string, status: number, text: string, first: number): void {
    const one = /^\/partner\/([^/?]+)$/.exec(path)?.[1];
    if (status === 404 && one !== undefined) return note(account, decodeURIComponent(one), null, first);
    if (status !== 200 || path === '/partner/me') return;
    const value = JSON.parse(text) as FilingDocument | { items: FilingDocument[] };
    for (const { id, status: to, completedAt = null, rejectionReason = null } of 'items' in value
      ? value.items
      : [value])
      note(account, id, { status: to, completedAt, rejectionReason }, first);
  }

  async function pass(request: IncomingMessage) {
    const first = Date.now();
    const path = (request.url ?? '').replace(/^\/v1/, '');
    const key = String(request.headers['partnerkey']);
    const answer = await fetch(target + path, { headers: { PartnerKey: key } });
    const text = await answer.text();
    // Written down before it is passed on: what the daemon has, the journal has.
    noteAnswer(accountOf(key), path, answer.status, text, first);
    if (recorder.latencyMs > 0) await delay(recorder.latencyMs);
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', text };
  }

  const server = createServer((request, response) => {
    pass(request).then(
      ({ status, type, text }) => response.writeHead(status, { 'content-type': type }).end(text),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const recorder: PartnerRecorder = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get served() {
      return [...served.values()];
    },
    latencyMs: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return recorder;
}
