import type { ServerResponse } from 'node:http';
import type { Api } from './api-instance.ts';
import type { OpenConnections } from './open-connections.ts';

// Time for what is on its way when the API closes: the rest of a request, the rest of an answer.
const underWayMs = 1_000;

/**
 * Makes `close` end the connections as well, which Node would wait for: at once those on which no request is
 * being answered (nothing may have come on them yet), a second later those whose request is not all there or
 * whose answer is not taken. Answers still being worked on are sent, with `connection: close` (RFC 9112
 * §9.6).
 */
export function endConnectionsOnClose(app: Api, connections: OpenConnections): void {
  let closing = false;

  function cut(isOver: (response: ServerResponse) => boolean): void {
    for (const [socket, responses] of connections) {
      if ([...responses].every(isOver)) socket.destroy();
    }
  }

  app.server.on('request', ({ socket }, response: ServerResponse) => {
    response.once('close', () => {
      if (closing) socket.end();
    });
  });

  app.addHook('preClose', async () => {
    closing = true;
    for (const response of [...connections.values()].flatMap((responses) => [...responses])) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    cut(() => false);
    setTimeout(() => cut(isStuck), underWayMs).unref();
  });
}

function isStuck({ headersSent, req }: ServerResponse): boolean {
  return headersSent || !req.complete;
}
