import { appendFile, readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createRandom } from '../../src/sandbox/random.ts';
import type { DaemonProcess } from '../support/daemon/daemon-process.ts';
import { dataFolder, serverPidOf, startIn } from '../support/daemon/data-folder.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { maxInFlight, startWorld } from '../support/world/world.ts';

const seed = Number(process.env['CRASH_SEED'] ?? 20_261_128);
const kills = Number(process.env['CRASH_KILLS'] ?? 20);

test(`daemon and server killed in turns ${kills} times, nothing is lost or invented (seed ${seed})`, async () => {
  const random = createRandom(seed);
  const folder = await dataFolder();
  await using world = await startWorld({ redisUrl: '', environment: { DATA_DIR: folder }, random });
  const [daemon] = world.daemons;
  const stop = world.lives.run(10);
  for (let i = 0; i < kills; i += 1) {
    await delay(300 + random() * 900);
    if (i % 2 === 0) await daemon?.kill();
    else process.kill(serverPidOf(daemon?.logs ?? []), 'SIGKILL');
    await daemon?.untilStarted();
  }
  await stop();
  const allowance = { repeatsMax: (kills + 1) * maxInFlight, setBack: false };
  const { events } = await expectKept(world, allowance, `${kills} kills of daemon and server in turns`);
  expect(events).toBeGreaterThan(0);
}, 600_000);

// Ends both as a power cut does, and changes the end of the file that the server appends to.
async function cutPower(daemon: DaemonProcess, folder: string, change: (file: string) => Promise<void>) {
  await daemon.end('SIGKILL');
  process.kill(serverPidOf(daemon.logs), 'SIGKILL');
  const files = await readdir(join(folder, 'appendonlydir'));
  const last = files.filter((name) => name.endsWith('.incr.aof')).toSorted();
  await change(join(folder, 'appendonlydir', last.at(-1) ?? ''));
}

test.each<[string, number, (file: string) => Promise<void>]>([
  ['the last byte missing', 0, async (file) => truncate(file, (await stat(file)).size - 1)],
  ['the last 40 bytes missing', 0, async (file) => truncate(file, (await stat(file)).size - 40)],
  ['zeros at its end', 1, (file) => appendFile(file, Buffer.alloc(512))],
])('a file with %s starts by itself, mended %i times', async (_, mended, change) => {
  const folder = await dataFolder();
  const first = await startIn(folder);
  await vi.waitFor(async () => expect((await fetch(`${first.url}/health/ready`)).status).toBe(200), 20_000);
  await cutPower(first, folder, change);
  const second = await startIn(folder);
  await vi.waitFor(async () => expect((await fetch(`${second.url}/health/ready`)).status).toBe(200), 20_000);
  expect(second.logs.filter(({ msg }) => msg === 'redis_server.file_mended')).toHaveLength(mended);
  expect(second.logs.map(({ msg }) => msg)).not.toContain('store.empty');
  expect(await second.end('SIGTERM')).toBe(0);
});
