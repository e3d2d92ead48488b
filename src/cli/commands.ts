import type { Command } from './command.ts';
import { eventsTail } from './commands/events-tail.ts';
import { keys } from './commands/keys.ts';
import { listen } from './commands/listen.ts';
import { replay } from './commands/replay.ts';
import { subscriptions } from './commands/subscriptions.ts';
import { trigger } from './commands/trigger.ts';
import { verify } from './commands/verify.ts';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  listen,
  trigger,
  subscriptions,
  eventsTail,
  replay,
  verify,
  keys,
];
