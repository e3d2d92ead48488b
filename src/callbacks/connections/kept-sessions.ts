import { TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import { createBoundedMap } from '../../memory/bounded-map.ts';

/** A TLS session. */
export interface KeptSession {
  readonly session: Buffer;
  /** Milliseconds since 1970 from which on it is not resumed. */
  readonly endsAt: number;
}

/** TLS sessions of one identity, by `host`: the name that is verified, and name and port as in a URL. */
export interface SessionsOfHosts {
  /** The latest session of a host, for the next connection to it. */
  get(host: string): KeptSession | undefined;
  /**
   * Keeps the sessions of a connection whose TLS is open, the latest one. `offered` is the session that it
   * was to resume.
   */
  follow(host: string, socket: Socket, offered: KeptSession | undefined): void;
  /**
   * No TLS was opened with this session: the host may not take it, and the next connection goes without. A
   * later one stays.
   */
  forget(host: string, offered: KeptSession): void;
}

/**
 * Keeps TLS sessions in memory: a connector of undici finds its own, but only until garbage is collected, and
 * each account has a connector of its own.
 */
export interface KeptSessions {
  /**
   * The sessions of one owner. A connection that resumes one goes without a check of the host's certificate,
   * which was made when the session began (ADR 24). That check counts for an hour, and no longer than the
   * certificate: a session that goes on from another one counts from the same check.
   */
  of(owner: string): SessionsOfHosts;
}

// Milliseconds for which the check of a certificate counts at most.
const checkedMsMax = 3_600_000;
// Maximum bytes of a session that is kept. It holds the certificate and the ticket, which the endpoint makes
// as large as it likes; usual ones take 2 to 5 KB.
const sessionBytesMax = 16_384;

/** No sessions yet; of those of more than `max` hosts the ones used last are kept. */
export function createKeptSessions(max: number): KeptSessions {
  const sessions = createBoundedMap<string, KeptSession>(max);
  return {
    of: (owner) => ({
      get(host) {
        const kept = sessions.get(`${owner} ${host}`);
        return kept !== undefined && kept.endsAt > Date.now() ? kept : undefined;
      },
      follow(host, socket, offered) {
        if (!(socket instanceof TLSSocket)) return;
        const endsAt = socket.isSessionReused() ? (offered?.endsAt ?? 0) : endOfCheck(socket);
        const keep = (session: Buffer | undefined): void => {
          if (session !== undefined && session.length <= sessionBytesMax)
            sessions.set(`${owner} ${host}`, { session, endsAt });
        };
        // That of TLS 1.2 has come with the handshake.
        if (socket.getProtocol() === 'TLSv1.2') keep(socket.getSession());
        socket.on('session', keep);
      },
      forget(host, offered) {
        const key = `${owner} ${host}`;
        if (sessions.get(key) === offered) sessions.delete(key);
      },
    }),
  };
}

function endOfCheck(socket: TLSSocket): number {
  const certificateEndsAt = socket.getPeerX509Certificate()?.validToDate.getTime() ?? 0;
  return Math.min(certificateEndsAt, Date.now() + checkedMsMax);
}
