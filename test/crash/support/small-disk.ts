import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const bytes = 12 * 1024 * 1024;

/** Whether `mountSmallDisk` is permitted. */
export function canMount(): boolean {
  try {
    unmount(mountSmallDisk());
    return true;
  } catch {
    return false;
  }
}

/** Mounts a disk of twelve megabytes in memory and returns its folder. Throws where that is not permitted. */
export function mountSmallDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'filing-webhooks-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
}

/** Takes it away again; nobody may use it any more. */
export function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder]);
  rmdirSync(folder);
}

/** Writes until nothing more fits. */
export async function fill(folder: string): Promise<void> {
  await writeFile(join(folder, 'filler'), Buffer.alloc(bytes)).catch(() => undefined);
}

/** Removes what `fill` has written. */
export function makeRoom(folder: string): Promise<void> {
  return rm(join(folder, 'filler'));
}
