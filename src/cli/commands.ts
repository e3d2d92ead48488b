import type { Command } from './command.ts';
import { accounts, addAccount, removeAccount, showAccount } from './commands/accounts/accounts.ts';
import { createLink, createToken, revokeToken, tokens } from './commands/accounts/tokens.ts';
import { listen } from './commands/events/listen.ts';
import { eventsTail } from './commands/events/tail.ts';
import { trigger } from './commands/events/trigger.ts';
import { verify } from './commands/events/verify.ts';
import { demo, sandbox, start } from './commands/programs/programs.ts';
import { attempts } from './commands/state/attempts.ts';
import { filings } from './commands/state/filings.ts';
import { keys } from './commands/state/keys.ts';
import { status } from './commands/state/status.ts';
import {
  deleteSubscription,
  disableSubscription,
  enableSubscription,
  resumeSubscription,
  rotateSecret,
  testSubscription,
} from './commands/subscriptions/change.ts';
import { createSubscription, updateSubscription } from './commands/subscriptions/create.ts';
import { listSubscriptions, showSubscription, subscriptions } from './commands/subscriptions/list.ts';
import { previewSubscription } from './commands/subscriptions/preview.ts';
import { replay } from './commands/subscriptions/replay.ts';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  start,
  demo,
  sandbox,
  status,
  listen,
  trigger,
  subscriptions,
  listSubscriptions,
  showSubscription,
  createSubscription,
  updateSubscription,
  previewSubscription,
  deleteSubscription,
  enableSubscription,
  disableSubscription,
  resumeSubscription,
  testSubscription,
  rotateSecret,
  replay,
  attempts,
  filings,
  eventsTail,
  verify,
  accounts,
  showAccount,
  addAccount,
  removeAccount,
  tokens,
  createToken,
  revokeToken,
  createLink,
  keys,
];
