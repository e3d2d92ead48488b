import { Agent, request } from 'undici';
import { signedHeaders } from '../../../src/callbacks/sign.ts';
import { parseSecret } from '../../../src/subscriptions/signing-secret.ts';
import { answer, isChild, startChild } from './child.ts';
import { benchSecret } from './delivery-rig.ts';

/** A client that only signs and posts, in a process of its own. */
export interface BareProcess extends AsyncDisposable {
  /** Posts each body to each URL, so many at a time per URL, and tells how many that were a second. */
  post(urls: readonly string[], bodies: readonly Buffer[], inFlight: number): Promise<number>;
}

interface Order {
  readonly urls: readonly string[];
  readonly bodies: readonly Uint8Array[];
  readonly inFlight: number;
}

/** Starts one under the daemon's own options of Node; it ends with this process at the latest. */
export async function startBareProcess(): Promise<BareProcess> {
  const child = await startChild<Order>(import.meta.url, [], { asDaemon: true });
  return {
    post: (urls, bodies, inFlight) => child.ask<number>({ urls, bodies, inFlight }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function postAll({ urls, bodies, inFlight }: Order): Promise<number> {
  const agent = new Agent({ pipelining: 1 });
  const key = parseSecret(benchSecret);
  const post = async (url: string, i: number, body: Uint8Array): Promise<void> => {
    const id = `evt_${i}`;
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'bare',
      ...signedHeaders([key], id, timestamp, body),
    };
    const { body: reply } = await request(url, { method: 'POST', headers, body, dispatcher: agent });
    await reply.dump();
  };
  const startedAt = performance.now();
  await Promise.all(
    urls.map(async (url) => {
      const queue = bodies.entries();
      const work = async () => {
        for (const [i, body] of queue) await post(url, i, body);
      };
      await Promise.all(Array.from({ length: inFlight }, work));
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  await agent.close();
  return (urls.length * bodies.length * 1_000) / elapsedMs;
}

if (isChild(import.meta.url)) answer(postAll);
