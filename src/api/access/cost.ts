import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Api } from '../server/api-instance.ts';
import { Problem } from '../shared/problem.ts';

/**
 * The prices of a request, in points. A request costs one point at least; its first hundred rows and quarter
 * of a MiB are included in that.
 */
export const prices = {
  /** Rows read from Redis for one point: filings, events, subscriptions, attempts and other records. */
  rows: 100,
  /** Certificates in a request for one point: each takes a tenth of a millisecond of parsing. */
  certificates: 10,
  /** Bytes of a response for one point. */
  bytes: 256 * 1024,
  /** Bytes of an event stream for one point: an event is rendered once for all who listen. */
  streamedBytes: 1024 * 1024,
} as const;

/** The cost of a request so far; charged to its caller at once. */
export interface RequestCost {
  add(points: number): void;
  /** Milliseconds until its caller has a point left; 0 while there is one. */
  readonly owedMs: () => number;
}

/** The cost of a request that was admitted for one point; further points beyond that go to `debit`. */
export function createRequestCost(
  debit: (points: number) => void,
  owedMs: RequestCost['owedMs'],
): RequestCost {
  let points = 0;
  return {
    owedMs,
    add(more) {
      const paid = Math.max(1, points);
      points += more;
      if (points > paid) debit(points - paid);
    },
  };
}

/** Gives every request the field in which `beginCost` stores its cost. */
export function addCostDecorator(app: Api): void {
  app.decorateRequest('cost', null);
}

/** Counts what follows of this request. A request without this call costs nothing, as the operator's. */
export function beginCost(request: FastifyRequest, cost: RequestCost): void {
  request.setDecorator('cost', cost);
}

/**
 * Charges the caller for work that costs as much as rows do, before it is done; throws the problem
 * `too_many_requests` where the caller has no point left. Requests that were admitted together thus do not
 * work for more than one of them may.
 */
export function payRows(request: FastifyRequest, rows: number): void {
  refuseFor(owedOf(request), 'This token or its account asks for too much at once.');
  chargeRows(request, rows);
}

/** Throws the problem `too_many_requests` (RFC 6585 §4) where there are milliseconds to wait. */
export function refuseFor(waitMs: number, detail: string): void {
  if (waitMs === 0) return;
  throw new Problem('too_many_requests', `${detail} Wait as long as Retry-After says.`, {
    headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
  });
}

/**
 * Charges the caller for rows read from Redis. To be called as they are read, so that a long scan is paid on.
 */
export function chargeRows(request: FastifyRequest, rows: number): void {
  charge(request, rows / prices.rows);
}

/** Charges the caller for certificates in the body of its request. To be called before they are parsed. */
export function chargeCertificates(request: FastifyRequest, certificates: number): void {
  charge(request, certificates / prices.certificates);
}

/** Charges the caller for bytes written to an event stream. */
export function chargeStreamed(request: FastifyRequest, bytes: number): void {
  charge(request, bytes / prices.streamedBytes);
}

/** Milliseconds until the caller has a point left, for a stream that goes on while it is paid for. */
export function owedOf(request: FastifyRequest): number {
  return request.getDecorator<RequestCost | null>('cost')?.owedMs() ?? 0;
}

/**
 * Charges each caller for the bytes of the responses of `scope`, those that are streamed as they are sent.
 */
export function chargeResponses(scope: Api): void {
  scope.addHook('onSend', async (request, _reply, payload) => {
    if (payload instanceof Readable) return Readable.from(counted(request, payload));
    if (typeof payload === 'string' || Buffer.isBuffer(payload))
      charge(request, Buffer.byteLength(payload) / prices.bytes);
    return payload;
  });
}

async function* counted(request: FastifyRequest, payload: Readable): AsyncGenerator<string | Buffer> {
  for await (const piece of payload as AsyncIterable<string | Buffer>) {
    charge(request, Buffer.byteLength(piece) / prices.bytes);
    yield piece;
  }
}

function charge(request: FastifyRequest, points: number): void {
  request.getDecorator<RequestCost | null>('cost')?.add(points);
}
