import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiLimits } from '../deps.ts';
import type { Api } from '../server/api-instance.ts';
import { Problem } from '../shared/problem.ts';
import { callerOf } from './auth.ts';
import { createGate } from './gate.ts';

/**
 * Requests that keep the daemon busy for longer than others: `scans` search much of Redis, `exports` send it
 * at the pace of their client, `bundles` have many certificates to parse, `calls` wait for a receiver.
 */
export type Dear = 'scans' | 'exports' | 'bundles' | 'calls';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Only a few such requests of an account run at once; the operator's have no limit. A function is called
     * after validation, and returns null for requests that are not dear; the body may be invalid where the
     * route attaches validation.
     */
    dear?: Dear | ((request: FastifyRequest) => Dear | null);
  }
}

// Seconds until a refused request may try again.
const retryAfter = '5';

/**
 * Limits how many dear requests run at once, on the routes that are added to `scope` from now on. A place is
 * held until the handler has ended, also if the client is gone before, and by an export until it is sent.
 */
export function limitDearRequests(scope: Api, limits: Pick<ApiLimits, Dear>): void {
  const gates = {
    scans: createGate(limits.scans),
    exports: createGate(limits.exports),
    bundles: createGate(limits.bundles),
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
      const caller = callerOf(request);
      const kind = typeof dear === 'function' ? dear(request) : dear;
      if (caller?.kind !== 'account' || kind === null) return handler.call(this, request, reply);
      using place = (await gates[kind].enter(caller.token.account, untilGone(reply))) ?? refuse(kind);
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
  scans: 'long searches',
  exports: 'exports',
  bundles: 'requests with many certificates',
  calls: 'test calls',
} as const;

function refuse(kind: Dear): never {
  throw new Problem('too_many_requests', `Too many ${names[kind]} run at once; wait until one has ended.`, {
    headers: { 'retry-after': retryAfter },
  });
}
