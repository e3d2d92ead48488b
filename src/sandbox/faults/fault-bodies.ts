import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

const cutAfterMs = 20;
const dripsPerSecond = 10;

/**
 * Half of a body. `connection`: the whole length is announced and the connection ends in the middle. `json`:
 * the half is all that is announced, so that only a parser notices.
 */
export function cutBody(payload: string, how: 'connection' | 'json', reply: FastifyReply): Buffer | Readable {
  const whole = Buffer.from(payload);
  const half = whole.subarray(0, Math.floor(whole.length / 2));
  reply.header('content-length', how === 'json' ? half.length : whole.length);
  return how === 'json' ? half : Readable.from(thenFail(half));
}

/**
 * The whole body at so many bytes per second; the rest at once when the signal says that nobody may wait any
 * longer.
 */
export function dripBody(payload: string, bytesPerSecond: number, hurry: AbortSignal): Readable {
  return Readable.from(drops(Buffer.from(payload), bytesPerSecond, hurry));
}

async function* thenFail(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
  await delay(cutAfterMs);
  throw new Error('the body is cut on purpose');
}

async function* drops(bytes: Buffer, bytesPerSecond: number, hurry: AbortSignal): AsyncGenerator<Buffer> {
  const size = Math.ceil(bytesPerSecond / dripsPerSecond);
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
    // oxlint-disable-next-line no-await-in-loop -- slowness is the point
    await delay((size / bytesPerSecond) * 1_000, undefined, { signal: hurry }).catch(() => undefined);
  }
}
