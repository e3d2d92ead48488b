import type { AccountRead, AccountStore, Fence, OpenedAccount, Overtaken } from '../store/account-store.ts';
import { createLogWindow, type LogWindow } from './log-window.ts';
import { createMembers, type Members } from './members.ts';
import { createTasks, type Tasks } from './tasks.ts';

/** An account as its deliverer has it. */
export interface OpenAccount {
  readonly name: string;
  readonly members: Members;
  readonly window: LogWindow;
  readonly tasks: Tasks;
  /** Null before it is opened, and once another deliverer may have begun. */
  fence: Fence | null;
  /** Version of the settings that are known. */
  version: string;
  /** As last written. */
  stored: Stored;
  /** Why nothing more can be written; null as long as it can. */
  overtaken: Overtaken | null;
  /** Whether the log and the settings are to be read in any case. */
  mustRead: boolean;
  /** Whether other settings than the known ones hold: nothing starts before they are read. */
  hasChanged: boolean;
  /** The last stretch that was read behind the window, for those that are as far behind. */
  behind: Behind | null;
  /** Number of callbacks in flight. */
  inFlight: number;
  /** Number of results that are not written yet, and when the first of them came, monotonic ms. */
  results: number;
  firstResultAt: number;
  /** When all that may hold the level were last looked at, monotonic ms. */
  lookedAt: number;
}

/** A stretch of the log behind the window. */
export interface Behind {
  readonly after: number;
  /** The newest position that was known then. */
  readonly known: number;
  readonly reading: Promise<AccountRead | Overtaken>;
}

/** The state of an account as it was last written. */
export interface Stored {
  readonly level: number;
  readonly nextAt: number | null;
  readonly version: string;
  /** When that was, milliseconds on Redis's clock. */
  readonly at: number;
}

/** Nothing is known of the account yet. */
export function createOpenAccount(name: string): OpenAccount {
  return {
    name,
    members: createMembers(),
    window: createLogWindow(),
    tasks: createTasks(),
    fence: null,
    version: '',
    stored: { level: 0, nextAt: null, version: '', at: 0 },
    overtaken: null,
    mustRead: false,
    hasChanged: false,
    behind: null,
    inFlight: 0,
    results: 0,
    firstResultAt: 0,
    lookedAt: -Infinity,
  };
}

/** Takes up an account that was opened. */
export function begin(account: OpenAccount, { fence, version, head, level }: OpenedAccount): void {
  Object.assign(account, { fence, version, overtaken: null });
  account.stored = { level: level.position, nextAt: null, version: '', at: 0 };
  account.window.beginAt(level);
  account.window.headIs(head);
}

/** Forgets all that is known; nothing is in flight. */
export function forget(account: OpenAccount): void {
  account.members.clear();
  account.window.beginAt({ position: 0, timeline: '' });
  Object.assign(account, { fence: null, version: '', behind: null, results: 0 });
}

/** Reads all subscriptions of an account anew by their ids, and those that are known. */
export async function allIds({ name, members }: OpenAccount, store: Pick<AccountStore, 'ids'>) {
  return [...new Set([...members.all.keys(), ...(await store.ids(name))])];
}
