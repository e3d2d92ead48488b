import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { EventLog } from '../event-log.ts';
import { logBeginning, type Checkpoint } from '../timeline.ts';

interface KnownLog<T> {
  upTo: Checkpoint;
  readonly known: T;
}

/**
 * The memory that this process has of logs, up to the head that is given. It is forgotten when the log is no
 * longer the one that it was learnt from: Redis was set back.
 */
export type LogMemory<T> = (account: string, head: Checkpoint) => Promise<T>;

/**
 * Remembers something of the `logsMax` logs used last; `begin` makes it for a log of which nothing is known.
 */
export function createLogMemory<T>(
  log: Pick<EventLog, 'commonWith'>,
  logsMax: number,
  begin: () => T,
): LogMemory<T> {
  const logs = createBoundedMap<string, KnownLog<T>>(logsMax);
  return async (account, head) => {
    const former = logs.get(account);
    const isSame =
      former !== undefined &&
      (await log.commonWith(account, former.upTo)).position === former.upTo.position &&
      former.upTo.position <= head.position;
    const opened = isSame ? former : { upTo: logBeginning, known: begin() };
    opened.upTo = head;
    logs.set(account, opened);
    return opened.known;
  };
}
