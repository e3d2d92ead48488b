import { Agent, request } from 'undici';
import { signedHeaders } from '../../../src/callbacks/sign.ts';
import { parseSecret } from '../../../src/subscriptions/signing-secret.ts';
import { answer, isChild, startChild } from './child.ts';
import { benchSecret } from './delivery-rig.ts';
import { ownMicros, threadMicros } from './processor-time.ts';
import { testCertificate } from './receiver-process.ts';

/** What a number of calls took. */
export interface CallsTaken {
  readonly perSecond: number;
  /** Microseconds of processor time a call, of all processes that made them: not of the receiver. */
  readonly cpuMicros: number;
  /** The share of it that the main thread of the calling process has: no second processor takes any of it. */
  readonly mainMicros: number;
}

/**
 * A client that only signs and posts, in a process of its own: fifty calls in flight, over connections that
 * it keeps.
 */
export interface BareProcess extends AsyncDisposable {
  /** Posts so many bodies, each URL and each body in turn. */
  post(urls: readonly string[], bodies: readonly Buffer[], calls: number): Promise<CallsTaken>;
}

interface Order {
  readonly urls: readonly string[];
  readonly bodies: readonly Uint8Array[];
  readonly calls: number;
}

const inFlight = 50;

/** Starts one under the daemon's own options of Node; it ends with this process at the latest. */
export async function startBareProcess(): Promise<BareProcess> {
  const child = await startChild<Order>(import.meta.url, [], {
    asDaemon: true,
    environment: { NODE_EXTRA_CA_CERTS: testCertificate },
  });
  return {
    post: (urls, bodies, calls) => child.ask<CallsTaken>({ urls, bodies, calls }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

function createPoster() {
  const dispatcher = new Agent({ pipelining: 1 });
  const key = parseSecret(benchSecret);
  async function post(url: string, i: number, body: Uint8Array): Promise<void> {
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'bare',
      ...signedHeaders([key], `evt_${i}`, timestamp, body),
    };
    const { body: reply } = await request(url, { method: 'POST', headers, body, dispatcher });
    await reply.dump();
  }
  return async ({ urls, bodies, calls }: Order): Promise<CallsTaken> => {
    const [startedAt, usedBefore, mainBefore] = [performance.now(), ownMicros(), threadMicros()];
    let next = 0;
    async function work(): Promise<void> {
      while (next < calls) {
        const i = next;
        next += 1;
        // One call after the other in each place.
        // oxlint-disable-next-line no-await-in-loop
        await post(urls[i % urls.length] ?? '', i, bodies[i % bodies.length] ?? Buffer.alloc(0));
      }
    }
    await Promise.all(Array.from({ length: inFlight }, work));
    const elapsedMs = performance.now() - startedAt;
    return {
      perSecond: (calls * 1_000) / elapsedMs,
      cpuMicros: (ownMicros() - usedBefore) / calls,
      mainMicros: (threadMicros() - mainBefore) / calls,
    };
  };
}

if (isChild(import.meta.url)) answer(createPoster());
