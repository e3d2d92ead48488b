import type { RequestListener, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { Problem, problemBody, problemType } from '../shared/problem.ts';

/** The sources of the responses during the start. */
export interface StartingDeps {
  /** The reason why the daemon is not ready yet, and what to do; called for each response. */
  readonly reason: () => string;
  readonly metrics: Registry;
}

// Seconds until a client may try again.
const retryAfter = '5';

/**
 * Answers requests while the daemon starts: it is live, not ready for a reason, and has metrics. Every other
 * request gets the problem `starting`.
 */
export function createStartingAnswers({ reason, metrics }: StartingDeps): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/health/live') return sendJson(response, 200, { live: true, reasons: [] });
    if (path === '/metrics') return void sendMetrics(response, metrics);
    response.setHeader('retry-after', retryAfter);
    if (path === '/health/ready') return sendJson(response, 503, { ready: false, reasons: [reason()] });
    const problem = new Problem('starting', `${reason()} Nothing was done; try again.`);
    sendJson(response, problem.statusCode, problemBody(problem), problemType);
  };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  type = 'application/json; charset=utf-8',
): void {
  send(response, status, type, JSON.stringify(body));
}

async function sendMetrics(response: ServerResponse, metrics: Registry): Promise<void> {
  try {
    send(response, 200, metrics.contentType, await metrics.metrics());
  } catch {
    response.destroy();
  }
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
