import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem, problemBody, problemType } from '../shared/problem.ts';

/** Throws unless a request names exactly one host (RFC 9112 §3.2); HTTP/1.0 may name none. */
export function refuseWithoutHost({ httpVersion, rawHeaders }: IncomingMessage): void {
  const names = rawHeaders.filter((_, i) => i % 2 === 0);
  const hosts = names.filter((name) => name.toLowerCase() === 'host').length;
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return;
  throw new Problem('malformed_request', 'Send exactly one Host header.');
}

/**
 * Answers a request whose `Expect` is not `100-continue` (RFC 9110 §10.1.1), and ends its connection: its
 * body may be on the way.
 */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const problem = new Problem('expectation_failed', 'Only "Expect: 100-continue" is met; leave it out.');
  response.writeHead(problem.statusCode, { 'content-type': problemType, connection: 'close' });
  response.end(JSON.stringify(problemBody(problem)));
}
