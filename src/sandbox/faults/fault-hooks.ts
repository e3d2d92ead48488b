import { setMaxListeners } from 'node:events';
import { type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Accounts } from '../accounts.ts';
import { endpointOf } from '../server/endpoints.ts';
import { noFault, type FaultPlan } from './faults.ts';
import { keyHeader } from '../server/scope-hooks.ts';
import { type SandboxApp, type SandboxDeps } from '../sandbox-app.ts';
import { Readable } from 'node:stream';

const plans = new WeakMap<FastifyRequest, FaultPlan>();

/** The planned fate of this request; outside the service there is no fault. */
export function faultPlanOf(request: FastifyRequest): FaultPlan {
  return plans.get(request) ?? noFault;
}

/**
 * Counts every request of a scope and applies the planned faults to it, before its key is checked. Closing
 * the app ends every wait: hanging requests lose their connection, and delayed ones get their response at
 * once.
 */
export function addFaultHooks(
  app: SandboxApp,
  deps: Pick<SandboxDeps, 'accounts' | 'injector' | 'counter'>,
): void {
  const hanging = new Set<ServerResponse>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);

  app.addHook('onRequest', async (request, reply) => {
    const facts = { endpoint: endpointOf(request.routeOptions.url), owner: ownerOf(request, deps.accounts) };
    deps.counter.began(facts.endpoint, facts.owner);
    reply.raw.once('close', () => deps.counter.ended());
    const plan = deps.injector.plan(facts);
    plans.set(request, plan);
    const { outcome, latencyMs } = plan;
    if (latencyMs > 0) await waitUnless(closing.signal, latencyMs);
    if (outcome.kind === 'answer')
      return reply.code(outcome.status).headers(outcome.headers).send(outcome.body);
    if (outcome.kind !== 'hang') return undefined;
    hanging.add(reply.raw);
    reply.raw.once('close', () => hanging.delete(reply.raw));
    return reply.hijack();
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { outcome } = faultPlanOf(request);
    if (typeof payload !== 'string') return payload;
    if (outcome.kind === 'cut') return cutBody(payload, outcome.how, reply);
    if (outcome.kind === 'drip')
      return Readable.from(drops(Buffer.from(payload), outcome.bytesPerSecond, closing.signal));
    return payload;
  });
  app.addHook('onResponse', async (_request, reply) => deps.counter.answered(reply.statusCode));
  app.addHook('preClose', async () => {
    closing.abort();
    for (const response of hanging) response.destroy();
  });
}

function ownerOf(request: FastifyRequest, accounts: Accounts): string | undefined {
  const key = request.headers[keyHeader];
  return typeof key === 'string' ? accounts.byKey(key)?.owner : undefined;
}

async function waitUnless(signal: AbortSignal, ms: number): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

const cutAfterMs = 20;
const dripsPerSecond = 10;

/**
 * Half of a body. `connection`: the whole length is announced and the connection ends in the middle. `json`:
 * only the half is announced, and only a parser notices.
 */
function cutBody(payload: string, how: 'connection' | 'json', reply: FastifyReply): Buffer | Readable {
  const whole = Buffer.from(payload);
  const half = whole.subarray(0, Math.floor(whole.length / 2));
  reply.header('content-length', how === 'json' ? half.length : whole.length);
  return how === 'json' ? half : Readable.from(thenFail(half));
}

async function* thenFail(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
  await delay(cutAfterMs);
  throw new Error('the body is cut on purpose');
}

/** The whole body at a number of bytes per second; the rest comes at once when the signal aborts. */
async function* drops(bytes: Buffer, bytesPerSecond: number, hurry: AbortSignal): AsyncGenerator<Buffer> {
  const size = Math.ceil(bytesPerSecond / dripsPerSecond);
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
    // oxlint-disable-next-line no-await-in-loop -- slowness is the point
    await waitUnless(hurry, (size / bytesPerSecond) * 1_000);
  }
}
