import type { Logger } from 'pino';

/** Milliseconds that a client may take to close. */
export const clientEndMs = 2_000;

/** A part of the process that has to stop before the process exits. */
export interface Part {
  /** For the log. */
  readonly name: string;
  /** Milliseconds after which the part is left behind. */
  readonly deadlineMs: number;
  /** Whether the part needs Redis to stop cleanly; it is left behind once Redis is away. */
  readonly needsRedis: boolean;
  stop(): Promise<unknown>;
}

export interface PartStopperDeps {
  readonly logger: Logger;
  /** Resolves when Redis does not answer; the signal ends the wait. */
  readonly redisAway: (signal: AbortSignal) => Promise<void>;
}

/**
 * A stopper for the parts of one process. It stops parts all at once and never rejects; a part that fails or
 * takes too long is logged and left behind.
 */
export function createPartStopper({ logger, redisAway }: PartStopperDeps) {
  async function stopPart(part: Part, away: Promise<void>): Promise<void> {
    const { name, deadlineMs, needsRedis } = part;
    const since = performance.now();
    const late = Promise.withResolvers<string>();
    const timer = setTimeout(() => late.resolve(`not done after ${deadlineMs} ms`), deadlineMs);
    const left = needsRedis ? [late.promise, away.then(() => 'Redis does not answer')] : [late.promise];
    const reason = await Promise.race([ended(part), ...left]);
    clearTimeout(timer);
    const line = { part: name, durationMs: Math.round(performance.now() - since) };
    if (reason === null) logger.debug(line, 'daemon.part_stopped');
    else logger.warn({ ...line, reason }, 'daemon.part_left');
  }

  return async (parts: readonly Part[]): Promise<void> => {
    const over = new AbortController();
    const away = redisAway(over.signal);
    await Promise.all(parts.map((part) => stopPart(part, away)));
    over.abort();
  };
}

async function ended(part: Part): Promise<string | null> {
  try {
    await part.stop();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
