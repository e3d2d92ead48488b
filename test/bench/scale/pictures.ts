import { writeFile } from 'node:fs/promises';
import { drawCurves } from './curves.ts';
import { readResults } from './results.ts';

const images = new URL('../../../docs/images/', import.meta.url);

/** The figures that the picture of a part shows. */
const curves: Readonly<Record<string, readonly string[]>> = {
  delivering: ['daemon µs', 'Redis µs', 'receiver µs'],
  polling: ['daemon ms', 'Redis ms', 'partner ms'],
  accounts: [
    'creation and first poll: daemon ms',
    'poll: daemon ms',
    'poll: Redis ms',
    'callback: daemon ms',
    'page of 100: daemon ms',
    'Redis KiB an account',
    'daemon MiB',
  ],
  filings: [
    'Redis bytes a filing',
    'poll: daemon ms',
    'poll with 4 changes, more: daemon ms',
    'sweep of a thousand: daemon ms',
    'newest PENDING, first time: Redis ms',
    'COMPLETED page: daemon ms',
    'removal: Redis ms',
  ],
  spread: [
    'Redis bytes a filing',
    'poll: daemon ms',
    'poll: Redis ms',
    'sweep of an account: daemon ms',
    'daemon MiB',
  ],
  events: [
    'Redis bytes an event',
    'append of a thousand: Redis ms',
    'callback: daemon ms',
    'oldest page: daemon ms',
    'page of a type that none has: daemon ms',
    'replay of a type, first time: daemon ms',
    'trim of a thousand: Redis ms',
  ],
  subscriptions: [
    'Redis bytes each',
    'creation: daemon ms',
    'idle, a poll a second: daemon ms a second',
    'poll with 4 changes for one subscription: daemon ms',
    'poll with 4 changes for one subscription: Redis ms',
    'page of 100: daemon ms',
  ],
};

/** Draws a picture of each part into docs/images. */
export async function drawAll(): Promise<void> {
  const results = await readResults();
  await Promise.all(
    Object.entries(curves).map(async ([part, names]) => {
      const rows = results[part]?.rows;
      if (rows !== undefined)
        await writeFile(new URL(`scale-${part}.svg`, images), drawCurves(part, rows, names));
    }),
  );
}
