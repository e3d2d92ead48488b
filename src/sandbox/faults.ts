import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Type, type Static } from 'typebox';
import { errorBody, SandboxError } from './errors.ts';
import { pick, type Random } from './random.ts';
import type { SandboxApp } from './sandbox-app.ts';

const Rate = Type.Number({ minimum: 0, maximum: 1 });
const HeaderValue = Type.String({ pattern: '^[\\x20-\\x7e]*$' });
const closed = { additionalProperties: false } as const;

/** The distortion of the responses of `GET /partner/filings`. */
const ListFaults = Type.Object(
  {
    limitMax: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    shuffle: Type.Optional(Type.Enum(['page', 'list'])),
  },
  closed,
);

/**
 * The body of `PUT /_sandbox/faults`: the faults of all requests to the service and its storage. `{}` is a
 * healthy service.
 */
export const Faults = Type.Object(
  {
    latencyMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
    rateLimit: Type.Optional(
      Type.Object(
        {
          requests: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
          windowMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
          retryAfter: Type.Optional(Type.Union([HeaderValue, Type.Number()])),
        },
        closed,
      ),
    ),
    errorRate: Type.Optional(Rate),
    errorStatuses: Type.Optional(Type.Array(Type.Integer({ minimum: 400, maximum: 599 }), { minItems: 1 })),
    cutRate: Type.Optional(Rate),
    list: Type.Optional(ListFaults),
  },
  closed,
);

export type Faults = Static<typeof Faults>;
export type ListFaults = Static<typeof ListFaults>;

const defaultErrorStatuses = [500, 502, 503];
const defaultWindowMs = 1_000;

/** The faults of a sandbox, none at first. */
export function createFaults({ now, random }: { readonly now: () => number; readonly random: Random }) {
  let faults: Faults = {};
  let window = { startMs: 0, requests: 0 };
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);

  // The value of Retry-After; undefined within the limit.
  function exceeded(limit: NonNullable<Faults['rateLimit']>): string | undefined {
    const nowMs = now();
    const windowMs = limit.windowMs ?? defaultWindowMs;
    if (nowMs - window.startMs >= windowMs) window = { startMs: nowMs, requests: 0 };
    window.requests += 1;
    if (window.requests <= (limit.requests ?? 0)) return undefined;
    return String(limit.retryAfter ?? Math.ceil((window.startMs + windowMs - nowMs) / 1_000));
  }

  return {
    present: () => faults,
    /** Replaces all faults. */
    set(next: Faults): void {
      faults = next;
      window = { startMs: 0, requests: 0 };
    },
    /**
     * Applies the faults to every request of a scope, before its key is checked. Closing the app ends every
     * wait.
     */
    addHooks(app: SandboxApp): void {
      app.addHook('onRequest', async (_request, reply) => {
        const { latencyMs = 0, rateLimit, errorRate = 0, errorStatuses = defaultErrorStatuses } = faults;
        if (latencyMs > 0)
          await delay(latencyMs, undefined, { signal: closing.signal }).catch(() => undefined);
        const retryAfter = rateLimit && exceeded(rateLimit);
        if (retryAfter !== undefined) {
          void reply.header('retry-after', retryAfter);
          throw new SandboxError('RATE_LIMITED', 'too many requests');
        }
        if (random() >= errorRate) return undefined;
        const body = errorBody('SERVICE_UNAVAILABLE', 'the service is out of order');
        return reply.code(pick(random, errorStatuses)).send(body);
      });
      app.addHook('onSend', async (_request, reply, payload) => {
        if (typeof payload !== 'string' || random() >= (faults.cutRate ?? 0)) return payload;
        // The whole length is announced, and the connection ends in the middle.
        const whole = Buffer.from(payload);
        void reply.header('content-length', whole.length);
        return Readable.from(thenFail(whole.subarray(0, Math.floor(whole.length / 2))));
      });
      app.addHook('preClose', async () => closing.abort());
    },
  };
}

const cutAfterMs = 20;

async function* thenFail(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
  await delay(cutAfterMs);
  throw new Error('the body is cut on purpose');
}
