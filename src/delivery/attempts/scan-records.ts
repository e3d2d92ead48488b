import type { RedisClient } from '../../redis/connection/connect.ts';
import { loadScript } from '../../redis/scripts.ts';

/** A stretch of a stream of attempts or dead letters; entries are named by their ids. */
export interface ScannedStretch {
  readonly order: 'oldest' | 'newest';
  /** Where to begin, as XRANGE takes it: `(` in front leaves the entry itself out. */
  readonly from: string;
  /** Where to end, likewise. */
  readonly to: string;
  /** Texts that the JSON of an entry must hold. */
  readonly holding: readonly string[];
  /** Maximum number of entries read, and of entries returned. */
  readonly readMax: number;
  readonly wanted: number;
}

/** The entries found in a stretch. */
export interface ScannedRecords {
  readonly found: readonly { readonly id: string; readonly text: string }[];
  /** Id of the last entry that was read; null where the stretch has been read to its end. */
  readonly last: string | null;
  /** Number of entries read. */
  readonly read: number;
}

/** Reads a stretch of a stream, at most as many entries as keep Redis busy for a millisecond. */
export type ScanRecords = (key: string, stretch: ScannedStretch) => Promise<ScannedRecords>;

/** Maximum number of entries that one step of a scan reads: an attempt may have three kilobytes. */
export const scannedAtOnce = 500;

/** Scans streams over one connection. */
export function createRecordScan(redis: RedisClient): ScanRecords {
  const script = loadScript(new URL('scan-attempts.lua', import.meta.url));
  return async (key, { order, from, to, holding, readMax, wanted }) => {
    const most = Math.min(readMax, scannedAtOnce);
    const args = [order === 'oldest' ? '1' : '', from, to, most, Math.min(wanted, most), ...holding];
    const [read, last, ...flat] = (await script.run(redis, [key], args)) as [number, string, ...string[]];
    const found: { id: string; text: string }[] = [];
    for (let i = 0; i < flat.length; i += 2) found.push({ id: flat[i] ?? '', text: flat[i + 1] ?? '' });
    return { found, last: last === '' ? null : last, read };
  };
}

/** The text by which the JSON of a record shows a member with this value. */
export function memberText(name: string, value: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}
