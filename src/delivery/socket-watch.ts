import type { Socket } from 'node:net';

/** What there is to know about the sockets of a client without asking each of them. */
export interface SocketWatch {
  /** Takes in a socket that has just been connected. */
  readonly add: (socket: Socket) => void;
  /** How many are open. */
  open(): number;
  /** Whether an error is that of a socket which had brought something before, an earlier answer that is. */
  wasReused(error: Error): boolean;
}

/** Watches nothing yet. */
export function createSocketWatch(): SocketWatch {
  const ofReused = new WeakSet<Error>();
  let open = 0;
  return {
    add(socket) {
      open += 1;
      socket.once('close', () => {
        open -= 1;
      });
      // Bytes on the wire would not do: over TLS tickets and alerts are among them.
      let hasBrought = false;
      socket.once('readable', () => {
        hasBrought = socket.readableLength > 0;
      });
      socket.once('error', (error: Error) => {
        if (hasBrought) ofReused.add(error);
      });
    },
    open: () => open,
    wasReused: (error) => ofReused.has(error),
  };
}
