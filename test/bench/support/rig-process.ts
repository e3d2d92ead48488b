import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createDeliveryRig } from './delivery-rig.ts';

const self = fileURLToPath(import.meta.url);

/** Starts delivery over a Redis in a process of its own, as a second daemon does; it ends with this process at the latest. */
export async function startRigProcess(redisUrl: string): Promise<AsyncDisposable> {
  const child = fork(self, ['serve', redisUrl], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return {
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

if (process.argv[2] === 'serve' && process.argv[1] === self) {
  const rig = createDeliveryRig(process.argv[3] ?? '');
  // The first command waits until Redis is connected.
  await rig.fill('warm', 1);
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}
