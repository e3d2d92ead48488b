import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiLimits } from '../deps.ts';
import type { Api } from '../server/api-instance.ts';
import { Problem } from '../shared/problem.ts';
import { callerOf } from './auth.ts';
import { createGate } from './gate.ts';

/** A request that keeps the daemon busy for longer than others. */
export interface Dear {
  /** `scans` read much of Redis, `calls` wait for a receiver. */
  readonly kind: 'scans' | 'calls';
  /** Which requests of the route are dear; all of them without it. Called after validation. */
  readonly when?: (request: FastifyRequest) => boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Only a few such requests of an account run at once; the operator's have no limit. */
    dear?: Dear;
  }
}

// Seconds until a refused request may try again.
const retryAfter = '5';

/**
 * Limits how many dear requests run at once, on the routes that are added to `scope` from now on. A place is
 * held until the handler has ended and its response is sent, also if the client is gone before.
 */
export function limitDearRequests(scope: Api, limits: Pick<ApiLimits, Dear['kind']>): void {
  const gates = { scans: createGate(limits.scans), calls: createGate(limits.calls) };
  scope.addHook('onRoute', (route) => {
    const { dear } = route.config ?? {};
    if (dear === undefined) return;
    const { handler } = route;
    const { kind, when = () => true } = dear;
    route.handler = async function limited(request, reply) {
      const caller = callerOf(request);
      if (caller?.kind !== 'account' || !when(request)) return handler.call(this, request, reply);
      using _ = (await gates[kind].enter(caller.token.account, untilGone(reply))) ?? refuse(kind);
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

function refuse(kind: Dear['kind']): never {
  const what = kind === 'scans' ? 'long searches and exports' : 'test calls';
  throw new Problem('too_many_requests', `Too many ${what} run at once; wait until one has ended.`, {
    headers: { 'retry-after': retryAfter },
  });
}
