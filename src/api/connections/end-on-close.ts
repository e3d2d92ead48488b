import type { ServerResponse } from 'node:http';
import type { Api } from '../server/api-instance.ts';
import type { OpenConnections } from './open-connections.ts';

// Milliseconds for the rest of a request or of a response when the API closes.
const underWayMs = 1_000;

/**
 * Makes `close` close connections too; Node would wait for them. Idle ones close at once. After one second,
 * those with an incomplete request or an unread response close too. Responses in flight are sent, with
 * `connection: close` (RFC 9112 §9.6).
 */
export function endConnectionsOnClose(app: Api, connections: OpenConnections): void {
  let closing = false;

  function cut(isOver: (response: ServerResponse) => boolean): void {
    for (const [socket, { answers }] of connections) {
      if ([...answers.keys()].every(isOver)) socket.destroy();
    }
  }

  app.server.on('request', ({ socket }, response: ServerResponse) => {
    response.once('close', () => {
      if (closing) socket.end();
    });
  });

  app.addHook('preClose', async () => {
    closing = true;
    for (const response of [...connections.values()].flatMap(({ answers }) => [...answers.keys()])) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    cut(() => false);
    setTimeout(() => cut(isStuck), underWayMs).unref();
  });
}

function isStuck({ headersSent, req }: ServerResponse): boolean {
  return headersSent || !req.complete;
}
