import { TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import { createBoundedMap } from '../../memory/bounded-map.ts';

/** TLS sessions of one identity, by `host`: the name that is verified, and name and port as in a URL. */
export interface SessionsOfHosts {
  /** The latest session of a host, for the next connection to it. */
  get(host: string): Buffer | undefined;
  /** Keeps the sessions of a connection whose TLS is open, the latest one. */
  follow(host: string, socket: Socket): void;
  /**
   * No TLS was opened with this session: the host may not take it, and the next connection goes without. A
   * later one stays.
   */
  forget(host: string, session: Buffer): void;
}

/**
 * Keeps TLS sessions in memory: a connector of undici finds its own, but only until garbage is collected, and
 * each account has a connector of its own.
 */
export interface KeptSessions {
  /**
   * The sessions of one owner. A connection that resumes one goes without a check of the host's certificate,
   * which was made when the session began (ADR 24).
   */
  of(owner: string): SessionsOfHosts;
}

/** No sessions yet; of those of more than `max` hosts the ones used last are kept. */
export function createKeptSessions(max: number): KeptSessions {
  const sessions = createBoundedMap<string, Buffer>(max);
  return {
    of: (owner) => ({
      get: (host) => sessions.get(`${owner} ${host}`),
      follow(host, socket) {
        if (!(socket instanceof TLSSocket)) return;
        const keep = (session: Buffer | undefined): void => {
          if (session !== undefined) sessions.set(`${owner} ${host}`, session);
        };
        // That of TLS 1.2 has come with the handshake.
        if (socket.getProtocol() === 'TLSv1.2') keep(socket.getSession());
        socket.on('session', keep);
      },
      forget(host, session) {
        const key = `${owner} ${host}`;
        if (sessions.get(key) === session) sessions.delete(key);
      },
    }),
  };
}
