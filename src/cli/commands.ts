import type { Command } from './command.ts';
import { api } from './commands/api.ts';
import { backup, restore } from './commands/data-folder.ts';
import { listen } from './commands/listen.ts';
import { demo, sandbox, start } from './commands/programs.ts';
import { replay } from './commands/replay.ts';
import { status } from './commands/status.ts';
import { tail } from './commands/tail.ts';
import { trigger } from './commands/trigger.ts';
import { verify } from './commands/verify.ts';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  start,
  demo,
  sandbox,
  status,
  listen,
  tail,
  trigger,
  verify,
  replay,
  api,
  backup,
  restore,
];
