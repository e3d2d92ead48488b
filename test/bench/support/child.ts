import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startOptions } from '../../support/daemon/start-options.ts';

/** A process of its own that runs a module and answers questions; it ends with this process at the latest. */
export interface Child<Question> extends AsyncDisposable {
  /** One at a time. */
  ask<Answer>(question: Question): Promise<Answer>;
}

interface ChildOptions {
  readonly asDaemon?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Starts a module, which finds itself to be one by `isChild` and calls `answer`. With `asDaemon` it runs
 * under the daemon's own options of Node; `environment` is added to this process's own. Resolves when it can
 * be asked.
 */
export async function startChild<Question>(
  module: string,
  args: readonly string[] = [],
  { asDaemon = false, environment = {} }: ChildOptions = {},
): Promise<Child<Question>> {
  const child = fork(fileURLToPath(module), [...args], {
    execArgv: asDaemon ? [...startOptions] : [],
    env: { ...process.env, ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return {
    async ask<Answer>(question: Question) {
      const answered = once(child, 'message');
      child.send(question as object);
      const [given] = (await answered) as [Answer];
      return given;
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Whether a module is what this process was started for; `module` is its `import.meta.url`. */
export function isChild(module: string): boolean {
  return process.send !== undefined && process.argv[1] === fileURLToPath(module);
}

/** Answers the questions of the process that started this one. */
export function answer(toAnswer: (question: never) => unknown): void {
  process.on('disconnect', () => process.exit());
  process.on('message', (question) => {
    void Promise.resolve(toAnswer(question as never)).then((given) => process.send?.(given ?? null));
  });
  process.send?.('ready');
}
