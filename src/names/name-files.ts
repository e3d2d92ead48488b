import { readFileSync, statSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { parseHosts, type Hosts } from './hosts-file.ts';
import { parseSearchRules, type SearchRules } from './search-list.ts';

/** The settings of this machine for names. */
export interface NameSettings {
  readonly hosts: Hosts;
  readonly rules: SearchRules;
  /** Whether the machine has an IPv6 address that others may reach. */
  readonly hasIpv6: boolean;
  /** Another one where the name servers may have changed. */
  readonly servers: string;
}

/** Where the files are. */
export interface NamePaths {
  readonly hostsFile: string;
  readonly resolvConf: string;
}

const windowsHosts = String.raw`${process.env['SystemRoot'] ?? String.raw`C:\Windows`}\System32\drivers\etc\hosts`;

/** The files of this system. Windows has no resolv.conf. */
export const systemPaths: NamePaths = {
  hostsFile: process.platform === 'win32' ? windowsHosts : '/etc/hosts',
  resolvConf: '/etc/resolv.conf',
};

// Milliseconds after which the files are looked at again.
const lookEveryMs = 1_000;
// Milliseconds after which name servers count as changed where no file lists them.
const serversEveryMs = 60_000;

/**
 * Reads the settings, and reads them again within a second of a change: a container's files change with its
 * networks. The returned function gives the present ones. A file that cannot be read counts as empty.
 */
export function createNameFiles({ hostsFile, resolvConf }: NamePaths): () => NameSettings {
  const hosts = watched(hostsFile, parseHosts);
  const rules = watched(resolvConf, (text) => parseSearchRules(text, hostname()));
  let lookedAt = -Infinity;
  let settings: NameSettings;
  return () => {
    const now = performance.now();
    if (now - lookedAt < lookEveryMs) return settings;
    lookedAt = now;
    const found = rules();
    settings = {
      hosts: hosts().value,
      rules: found.value,
      hasIpv6: hasGlobalIpv6(),
      servers: found.mark ?? String(Math.floor(now / serversEveryMs)),
    };
    return settings;
  };
}

/** A file's parsed content, and what says that it is still the same; null where there is no file. */
function watched<T>(path: string, parse: (text: string) => T): () => { value: T; mark: string | null } {
  let known: { value: T; mark: string | null } | null = null;
  return () => {
    const mark = markOf(path);
    if (known === null || known.mark !== mark) known = { value: parse(read(path)), mark };
    return known;
  };
}

function markOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function hasGlobalIpv6(): boolean {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.some(
    ({ family, internal, address }) => family === 'IPv6' && !internal && !/^fe[89ab]/i.test(address),
  );
}
