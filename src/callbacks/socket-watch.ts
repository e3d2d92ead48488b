import type { Socket } from 'node:net';

/** What is remembered of the sockets of a client. */
export interface SocketWatch {
  /** Takes in a socket that has just been connected. */
  readonly add: (socket: Socket) => void;
  /** Whether an error is that of a socket which had brought something before, an earlier answer that is. */
  wasReused(error: Error): boolean;
}

/** Watches nothing yet. */
export function createSocketWatch(): SocketWatch {
  const ofReused = new WeakSet<Error>();
  return {
    add(socket) {
      // Bytes on the wire would not do: over TLS tickets and alerts are among them.
      let hasBrought = false;
      socket.once('readable', () => {
        hasBrought = socket.readableLength > 0;
      });
      socket.once('error', (error: Error) => {
        if (hasBrought) ofReused.add(error);
      });
    },
    wasReused: (error) => ofReused.has(error),
  };
}
