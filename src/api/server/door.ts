import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Api } from '../deps.ts';
import { createBoundedServer } from './bounded-server.ts';
import { Problem, problemBody, problemType } from '../shared/problem.ts';

/** A port that listens from the start of the process, before and after the API serves it. */
export type Door = Awaited<ReturnType<typeof openDoor>>;

// Maximum number of connections that wait to be accepted, as far as the system allows (net.core.somaxconn).
// Of thousands that arrive at once, one without a place tries again a second later. Node's default is 511.
const backlog = 4_096;
// Maximum number of connections before an app has the door; the app has limits of its own.
const connectionsBefore = 1_000;

/** Listens on an address and a port; rejects if that fails. `answer` gets the requests before an app does. */
export async function openDoor(host: string, port: number, answer: RequestListener) {
  const { server, connections, enter } = createBoundedServer({}, answer);
  let next = answer;
  let hasApp = false;
  let closed: Promise<void> | null = null;
  server.maxConnections = connectionsBefore;
  server.listen({ host, port, backlog });
  await once(server, 'listening');
  const { port: opened } = server.address() as AddressInfo;

  // Accepts no more connections, and cuts open ones unless an app has the door. Resolves when the last one
  // has ended.
  function close(): Promise<void> {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    if (!hasApp) for (const socket of connections.keys()) socket.destroy();
    return closed;
  }

  return {
    /** The address on which it listens. */
    url: `http://${reachable(host)}:${opened}`,
    /** The open connections. */
    connections,
    /** For Fastify's `serverFactory`: returns the server. The handler gets requests only after `handOver`. */
    enter(handler: RequestListener): Server {
      next = handler;
      return server;
    },
    /**
     * Hands all requests to the app that has entered, also those on connections that are open already.
     * Closing the app closes the door.
     */
    async handOver(app: Api): Promise<void> {
      hasApp = true;
      app.addHook('preClose', async () => void close());
      app.addHook('onClose', close);
      await app.ready();
      server.maxConnections = Infinity;
      enter(next);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

// A client cannot call an address that stands for all of them.
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}

/** The sources of the responses during the start. */
export interface StartingDeps {
  /** The reason why the daemon is not ready yet, and what to do; called for each response. */
  readonly reason: () => string;
  readonly metrics: Registry;
}

const jsonType = 'application/json; charset=utf-8';
// Seconds until a client may try again.
const retryAfter = '5';

/**
 * Answers requests while the daemon starts: it is live, not ready for a reason, and has metrics. Every other
 * request gets the problem `starting`.
 */
export function createStartingAnswers({ reason, metrics }: StartingDeps): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/health/live') return send(response, 200, jsonType, { live: true, reasons: [] });
    if (path === '/metrics') return void sendMetrics(response, metrics);
    response.setHeader('retry-after', retryAfter);
    if (path === '/health/ready') return send(response, 503, jsonType, { ready: false, reasons: [reason()] });
    const problem = new Problem('starting', `${reason()} Nothing was done; try again.`);
    send(response, problem.statusCode, problemType, problemBody(problem));
  };
}

async function sendMetrics(response: ServerResponse, metrics: Registry): Promise<void> {
  try {
    send(response, 200, metrics.contentType, await metrics.metrics());
  } catch {
    response.destroy();
  }
}

function send(response: ServerResponse, status: number, type: string, body: object | string): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
