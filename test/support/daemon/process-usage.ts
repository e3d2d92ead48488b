import { readdir, readFile } from 'node:fs/promises';

/** What a process uses, as Linux tells it. */
export interface ProcessUsage {
  /** Resident memory, in MiB: now, and the most since its start. */
  readonly rssMiB: number;
  readonly peakMiB: number;
  /** Files and sockets that are open now. */
  readonly files: number;
  /** Processor time since its start, in seconds. */
  readonly cpuSeconds: number;
}

/** Reads it from /proc, so on Linux only, and of a process that runs. */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  const [status, stat, files] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readdir(`/proc/${pid}/fd`),
  ]);
  const kibOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  // Behind the command in brackets, which may hold spaces; the clock ticks 100 times a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    rssMiB: kibOf('VmRSS') / 1024,
    peakMiB: kibOf('VmHWM') / 1024,
    files: files.length,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
  };
}

/** The most that a process had of each since it is watched; memory since its start. */
export interface PeakUsage {
  readonly rssMiB: number;
  readonly files: number;
}

/** A watch over a process. */
export interface UsageWatch {
  /** Ends the watch with a last look; null where there is no /proc. */
  end(): Promise<PeakUsage | null>;
}

const everyMs = 50;

/** Watches what a process uses, from now on; a process that has ended is no error. */
export function watchUsage(pid: number): UsageWatch {
  let peak: PeakUsage | null = null;
  async function look(): Promise<void> {
    const usage = await usageOf(pid).catch(() => null);
    if (usage === null) return;
    peak = { rssMiB: usage.peakMiB, files: Math.max(usage.files, peak?.files ?? 0) };
  }
  const timer = setInterval(() => void look(), everyMs).unref();
  return {
    async end() {
      clearInterval(timer);
      await look();
      return peak;
    },
  };
}
