import type { TLSSocket } from 'node:tls';

// Milliseconds after which an endpoint that says nothing after its handshake counts as content with it.
const silenceMs = 250;

/**
 * Calls back once the endpoint has accepted the client's certificate, or with the error by which it has not.
 * In TLS 1.3 the client's handshake ends before the endpoint has seen the certificate. A request that is
 * written at once crosses the refusal, and the connection is reset before its alert is read. The first word
 * of an endpoint that accepts it is a session ticket (RFC 8446 §4.6.1); those without tickets are given a
 * moment.
 */
export function awaitFirstWord(socket: TLSSocket, done: (error: Error | null) => void): void {
  if (socket.getProtocol() !== 'TLSv1.3' || socket.isSessionReused()) {
    done(null);
    return;
  }
  // Not within the event: OpenSSL is reading, and what is written then gets lost.
  const accepted = () => void setImmediate(settle, null);
  const closed = () => settle(new ClosedError());
  let isOver = false;
  const silence = setTimeout(accepted, silenceMs);
  function settle(error: Error | null): void {
    clearTimeout(silence);
    socket.off('session', accepted).off('error', settle).off('close', closed);
    if (isOver) return;
    isOver = true;
    done(error);
  }
  socket.once('session', accepted).once('error', settle).once('close', closed);
}

/** The endpoint closed the connection right after the handshake, without an alert. */
class ClosedError extends Error {
  readonly code = 'ERR_TLS_CLOSED';

  constructor() {
    super('closed after the handshake');
  }
}
