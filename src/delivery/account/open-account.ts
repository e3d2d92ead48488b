import type { AccountRead, Fence, OpenedAccount, Overtaken } from '../store/account-store.ts';
import { LogWindow } from './log-window.ts';
import { Members } from './members.ts';
import { Tasks } from './tasks.ts';

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

/** An account as its deliverer has it; nothing is known of it at first. */
export class OpenAccount {
  readonly name: string;
  readonly members = new Members();
  readonly window = new LogWindow();
  readonly tasks = new Tasks();
  /** Null before it is opened, and once another deliverer may have begun. */
  fence: Fence | null = null;
  /** Version of the settings that are known. */
  version = '';
  /** As last written. */
  stored: Stored = { level: 0, nextAt: null, version: '', at: 0 };
  /** Why nothing more can be written; null as long as it can. */
  overtaken: Overtaken | null = null;
  /** Whether the log and the settings are to be read in any case. */
  mustRead = false;
  /** Whether other settings than the known ones hold: nothing starts before they are read. */
  hasChanged = false;
  /** The last stretch that was read behind the window, for those that are as far behind. */
  behind: Behind | null = null;
  /** Number of callbacks in flight. */
  inFlight = 0;
  /** Number of results that are not written yet, and when the first of them came, monotonic ms. */
  results = 0;
  firstResultAt = 0;
  /** When all that may hold the level were last looked at, monotonic ms. */
  lookedAt = -Infinity;

  constructor(name: string) {
    this.name = name;
  }

  /** Takes up an account that was opened. */
  begin({ fence, version, head, level }: OpenedAccount): void {
    this.fence = fence;
    this.version = version;
    this.overtaken = null;
    this.stored = { level: level.position, nextAt: null, version: '', at: 0 };
    this.window.beginAt(level);
    this.window.headIs(head);
  }

  /** Forgets all that is known; nothing is in flight. */
  forget(): void {
    this.members.clear();
    this.window.beginAt({ position: 0, timeline: '' });
    this.fence = null;
    this.version = '';
    this.behind = null;
    this.results = 0;
  }
}
