import { readFile } from 'node:fs/promises';

/** What a process has used, as Linux tells it. */
export interface ProcessUsage {
  /** Resident memory, in MiB: now, and the most since its start. */
  readonly rssMiB: number;
  readonly peakMiB: number;
  /** Processor time since its start, in seconds. */
  readonly cpuSeconds: number;
}

/** Reads it from /proc, so on Linux only. */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  const [status, stat] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ]);
  const kibOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  // Behind the command in brackets, which may hold spaces; the clock ticks 100 times a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    rssMiB: kibOf('VmRSS') / 1024,
    peakMiB: kibOf('VmHWM') / 1024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
  };
}
