import { createHash } from 'node:crypto';
import type { LogEntry } from '../../../src/events/event-log.ts';

const steps = [1, 32, 1024, 32_768];
const emptyHash = '0'.repeat(12);

/**
 * The entries of a log in which events of these ids were recorded, one after the other, as log.lua appends
 * them.
 */
export function entriesOf(...ids: readonly string[]): LogEntry[] {
  let hashes = steps.map(() => emptyHash);
  return ids.map((id, i) => {
    const position = i + 1;
    const hash = createHash('sha1').update(`${hashes[0]}${id}`).digest('hex').slice(0, 12);
    hashes = hashes.map((former, k) => (position % (steps[k] ?? 1) === 0 ? hash : former));
    const rest = {
      type: 't',
      filingId: 'f',
      state: '',
      status: '',
      recordedAt: 0,
      bytes: 0,
      body: Buffer.alloc(0),
    };
    return { position, id, timeline: hashes.join(''), ...rest };
  });
}
