import type { ReplaySource } from './replay-source.ts';

/** The source of a subscription without replays; it never has any. */
export const noReplays: ReplaySource = {
  set: () => false,
  setBack: () => undefined,
  readOn: () => Promise.resolve(false),
  current: () => null,
  make: () => Promise.resolve(null),
  snapshotsLeft: () => null,
  letterAt: () => null,
  count: () => undefined,
  removeChanges: () => null,
  written: () => undefined,
  leave: () => null,
};
