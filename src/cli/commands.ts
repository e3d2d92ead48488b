import type { Command } from './command.ts';
import { eventsTail } from './events-tail.ts';
import { keys } from './keys.ts';
import { listen } from './listen.ts';
import { replay } from './replay.ts';
import { subscriptions } from './subscriptions.ts';
import { trigger } from './trigger.ts';
import { verify } from './verify.ts';

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
