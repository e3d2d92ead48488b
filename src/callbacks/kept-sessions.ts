import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createBoundedMap } from '../memory/bounded-map.ts';

/**
 * Keeps TLS sessions in memory: a connector of undici finds its own, but only until garbage is collected.
 */
export interface KeptSessions {
  /**
   * Keeps the latest session of a connection, in place of the former one of this connector to the address.
   */
  follow(connector: string, socket: Socket): void;
}

/** No sessions yet; of those of more than `max` addresses the ones used last are kept. */
export function createKeptSessions(max: number): KeptSessions {
  const sessions = createBoundedMap<string, Buffer>(max);
  return {
    follow(connector, socket) {
      if (!(socket instanceof TLSSocket)) return;
      const place = `${connector} ${socket.remoteAddress}`;
      socket.on('session', (session) => sessions.set(place, session));
    },
  };
}
