import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '../deps.ts';
import { tokenOf } from './auth.ts';
import { createCounts } from '../../memory/counts.ts';
import { refuse, type ApiLimits } from './limits.ts';

/**
 * Requests that keep the daemon busy for longer than others: `scans` search much of Redis or have many
 * certificates to parse, `exports` send much of Redis at the pace of their client, `calls` wait for a
 * receiver.
 */
export type Dear = 'scans' | 'exports' | 'calls';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Only a few such requests of an account run at once; the operator's have no limit. A function is called
     * after validation and returns null for requests that are not dear; the body may be invalid if the route
     * attaches validation.
     */
    dear?: Dear | ((request: FastifyRequest) => Dear | null);
  }
}

/** Milliseconds for a list that is made as it is taken: a table of a million filings over a slow line. */
export const exportMs = 3_600_000;

// Milliseconds until a refused request may try again.
const retryMs = 5_000;

/**
 * Limits how many dear requests run at once, on the routes that are added to `scope` from now on. A place is
 * held until the handler has ended, also if the client is gone before, and by an export until it is sent.
 */
export function limitDearRequests(scope: Api, limits: Pick<ApiLimits, Dear>): void {
  const gates = {
    scans: createGate(limits.scans),
    exports: createGate(limits.exports),
    calls: createGate(limits.calls),
  };
  const places = new WeakMap<FastifyRequest, Disposable>();
  // A handler that returns its reply ends when that is taken. A slow client holds no place for what is in
  // memory. An error may be sent while the handler goes on.
  scope.addHook('onSend', async (request, { statusCode }, payload) => {
    if (statusCode < 400 && !(payload instanceof Readable)) places.get(request)?.[Symbol.dispose]();
  });
  scope.addHook('onRoute', (route) => {
    const { dear } = route.config ?? {};
    if (dear === undefined) return;
    const { handler } = route;
    route.handler = async function limited(request, reply) {
      const account = tokenOf(request)?.account;
      const kind = typeof dear === 'function' ? dear(request) : dear;
      if (account === undefined || kind === null) return handler.call(this, request, reply);
      using place =
        (await gates[kind].enter(account, untilGone(reply))) ??
        refuse(`Too many ${names[kind]} run at once; wait until one has ended.`, retryMs);
      places.set(request, place);
      const answer: unknown = await handler.call(this, request, reply);
      return answer;
    };
  });
}

function untilGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}

const names = {
  scans: 'requests that take long',
  exports: 'exports',
  calls: 'test calls',
} as const;

/**
 * Lets a few in at once, each account its share; in this process only. Waiters enter in about the order of
 * their arrival, past those whose account has its share.
 */
export function createGate({ perAccount, inAll, waiting, waitMs }: ApiLimits['scans']) {
  const inside = createCounts();
  const queued = createCounts();
  const places = new EventEmitter().setMaxListeners(0);
  let total = 0;

  const hasRoom = (account: string) => total < inAll && inside.of(account) < perAccount;

  function take(account: string): Disposable {
    total += 1;
    inside.add(account);
    let isLeft = false;
    return {
      [Symbol.dispose]() {
        if (isLeft) return;
        isLeft = true;
        total -= 1;
        inside.remove(account);
        places.emit('left');
      },
    };
  }

  return {
    /**
     * A place inside, to be disposed of when the work has ended, once or more often. Null when too many of
     * the account wait, after `waitMs`, and when `signal` aborts.
     */
    async enter(account: string, signal: AbortSignal): Promise<Disposable | null> {
      if (hasRoom(account)) return signal.aborted ? null : take(account);
      if (queued.of(account) >= waiting) return null;
      queued.add(account);
      const end = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
      try {
        while (!hasRoom(account)) await once(places, 'left', { signal: end });
        return take(account);
      } catch {
        return null; // the time is over, or the client gone
      } finally {
        queued.remove(account);
      }
    },
  };
}
